package server_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// viewPaths are the views of a server that shows locks, in the order of the navigation.
var viewPaths = []string{"/", "/range", "/census", "/processes", "/locks"}

// The navigation leads to the views that the tests open.
func TestNavigation(t *testing.T) {
	r := serve(t, server.Options{OpenLocks: withLocks(t)})
	_, nav, _ := strings.Cut(r.get(t, "/").body, "<nav")
	nav, _, _ = strings.Cut(nav, "</nav>")
	var got []string
	for _, m := range regexp.MustCompile(`href="(.+?)"`).FindAllStringSubmatch(nav, -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, viewPaths) {
		t.Errorf("the navigation leads to %q: write that into viewPaths in head_test.go, which has %q", got, viewPaths)
	}
}

// The head of every view says how many processes are alive and where they are recorded,
// and does so again when one comes or goes, also in a view that is not live. After the
// server has gone it says since when that is not true any more.
func TestHeadIsLive(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{StoreName: "SQLite", OpenLocks: withLocks(t)})
	b := newTab(t, browserOf(t), r.url)
	for _, path := range viewPaths {
		b.open(path)
		b.await(`document.querySelector('header #alive').innerText === '1 process alive · store: SQLite'`)
	}
	b.open("/range") // a view that is not live
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
	if got := r.get(t, "/range", "Cookie", logIn(t, r, token)); !strings.Contains(got.body, "1 process alive") || strings.Contains(got.body, "store:") {
		t.Errorf("after the login: %s", got.body)
	}
	local := serve(t, server.Options{})
	if got := local.get(t, "/range", "Accept", "text/html", "Host", "other.example"); got.status != 421 || strings.Contains(got.body, "alive") {
		t.Errorf("by another name: %d %s", got.status, got.body)
	}
	without := serveAsIs(t, server.Options{}, "127.0.0.1:0")
	if got := without.get(t, "/range"); got.status != 200 || strings.Contains(got.body, "alive") {
		t.Errorf("without a store: %d %s", got.status, got.body)
	}
}
