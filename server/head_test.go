package server_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// The head of every view says how many processes are alive and where they are recorded,
// and does so again when one comes or goes, also in a view that is not live. After the
// server has gone it says since when that is not true any more.
func TestHeadIsLive(t *testing.T) {
	r := serve(t, server.Options{StoreName: "SQLite", OpenLocks: withLocks(t)})
	b := newTab(t, browserOf(t), r.url)
	for _, path := range []string{"/", "/range", "/census", "/processes", "/locks", "/about"} {
		b.open(path)
		b.await(`document.querySelector('header #alive').innerText === '1 process alive · store: SQLite'`)
	}
	one := decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"shop","pid":1,"interval_seconds":600}`), 201)
	b.await(`document.querySelector('#alive').innerText.startsWith('2 processes alive')`)
	r.do(t, "DELETE", memberPath(one.Member)+"?reason=done", nil)
	b.await(`document.querySelector('#alive').innerText.startsWith('1 process alive')`)
	if eval[bool](b, `'since' in document.querySelector('#alive').dataset`) {
		t.Error("the head is not up to date")
	}
	b.lose(r)
	b.await(`/\d+:\d+/.test(document.querySelector('#alive').dataset.since)`)
	if eval[bool](b, `!!document.querySelector('#trouble')`) {
		t.Error("a view that is not live says that it is not updated")
	}
}

// Those who are not admitted do not learn how many processes there are, nor does a server
// without a store say anything about them.
func TestHeadIsForThoseAdmitted(t *testing.T) {
	r := serve(t, server.Options{Token: token})
	for _, path := range []string{"/login", "/login?next=/", "/no/such/page"} {
		if got := r.get(t, path, "Accept", "text/html"); strings.Contains(got.body, "alive") {
			t.Errorf("%s says: %s", path, got.body)
		}
	}
	if got := r.get(t, "/about", "Cookie", logIn(t, r, token)); !strings.Contains(got.body, "1 process alive") || strings.Contains(got.body, "store:") {
		t.Errorf("after the login: %s", got.body)
	}
	local := serve(t, server.Options{})
	if got := local.get(t, "/about", "Accept", "text/html", "Host", "other.example"); got.status != 421 || strings.Contains(got.body, "alive") {
		t.Errorf("by another name: %d %s", got.status, got.body)
	}
	without := serveAsIs(t, server.Options{}, "127.0.0.1:0")
	if got := without.get(t, "/about"); got.status != 200 || strings.Contains(got.body, "alive") {
		t.Errorf("without a store: %d %s", got.status, got.body)
	}
}

// An event has the number of processes that are alive.
func TestEventsCount(t *testing.T) {
	r := serve(t, server.Options{})
	var e map[string]string
	if err := json.Unmarshal([]byte(next(t, follow(t, r))), &e); err != nil || e["alive"] != "1" {
		t.Errorf("an event: %v, %v", e, err)
	}
}

// The cards of the start page have a plot of the processes that were alive, and of the
// growth of the latest census as soon as there is one.
func TestPlotsOnTheStartPage(t *testing.T) {
	r := serve(t, server.Options{})
	line := func(label string) []string {
		t.Helper()
		m := regexp.MustCompile(`aria-label="` + label + `"><polyline class="line" points="([^"]*)"`).FindStringSubmatch(r.get(t, "/now").body)
		if m == nil {
			return nil
		}
		return strings.Fields(m[1])
	}
	decode[wire.Registered](t, r.post(t, "/v1/processes", fmt.Sprintf(`{"name":"shop","pid":1,"started":%q,"interval_seconds":600}`,
		time.Now().Add(-12*time.Hour-time.Minute).Format(time.RFC3339))), 201)
	await(t, "two processes now, one for half of the day", func() bool {
		points := line("processes alive in the last 24 hours")
		// From 1 to 119, and from 22 at the bottom to 2 at the top.
		return len(points) == 97 && points[0] == "1.0,22.0" && points[47] == "58.8,22.0" && points[48] == "60.0,12.0" && points[96] == "119.0,2.0"
	})
	if points := line(`growth of .*`); points != nil {
		t.Errorf("without a census there is a plot of its growth: %v", points)
	}
	report := r.do(t, "POST", "/census", strings.NewReader(form(dump())), "Content-Type", "multipart/form-data; boundary=B")
	await(t, "growth of the census", func() bool {
		points := line("growth of orders.json")
		return len(points) > 5 && strings.HasSuffix(points[len(points)-1], ",2.0") && strings.HasPrefix(points[0], "1.0,2")
	})
	if page := r.get(t, "/now").body; !strings.Contains(page, `href="`+report.header.Get("Location")+`"`) {
		t.Error("the plot does not lead to its census")
	}
}
