package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// follow opens a stream of events, and returns its data as it comes.
func follow(t *testing.T, r *running, headers ...string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: r.client.Transport} // without a limit of time
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("a stream: %s %v", res.Status, res.Header)
	}
	out := make(chan string)
	go func() {
		defer close(out)
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				select {
				case out <- data:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

// next returns the next event, or "" after the end of the stream.
func next(t *testing.T, events <-chan string) string {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(time.Minute):
		t.Fatal("no event comes")
		return ""
	}
}

// A stream says at once how things are, says it again while nothing happens, and says
// something else after a process was registered.
func TestEvents(t *testing.T) {
	r := serve(t, server.Options{})
	events := follow(t, r)
	first := next(t, events)
	if !strings.Contains(first, `"processes":"`) || strings.Contains(first, `"processes":""`) {
		t.Errorf("the first event: %s", first)
	}
	decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"shop","pid":1}`), 201)
	for e := first; e == first; {
		e = next(t, events)
	}
	// The server does not wait for streams at its end.
	began := time.Now()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("with an open stream the server stops after %v", took)
	}
	for next(t, events) != "" {
	}
}

// A stream takes no slot and ends with its session; beyond a number of them there are no
// more, and the page asks by itself.
func TestEventsAreBounded(t *testing.T) {
	r := serve(t, server.Options{Token: token, Limits: server.Limits{Connections: 48, Requests: 1}})
	session := logIn(t, r, token)
	var all []<-chan string
	for range 3 {
		events := follow(t, r, "Cookie", session)
		next(t, events)
		all = append(all, events)
	}
	if got := r.get(t, "/events", "Cookie", session); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("one more: %d", got.status)
	}
	if got := r.get(t, "/about", "Cookie", session); got.status != 200 {
		t.Errorf("another view: %d", got.status)
	}
	r.do(t, "POST", "/logout", nil, "Cookie", session)
	for _, events := range all {
		for next(t, events) != "" {
		}
	}
	if got := r.get(t, "/events", "Cookie", session); got.status != 401 {
		t.Errorf("after the logout: %d", got.status)
	}
}

// Eight tabs of one browser, more than it opens connections, all show a process that
// comes; so does one that was asleep, and one after another when tabs are closed.
func TestTabsLive(t *testing.T) {
	r := serve(t, server.Options{OpenLocks: withLocks(t)})
	browser := browserOf(t)
	var tabs []*tab
	for i := range 8 {
		b := newTab(t, browser, r.url)
		b.open([]string{"/processes", "/"}[i%2])
		b.await(`document.querySelector('main [data-refresh]').innerText.includes(location.pathname === '/' ? '1 alive' : 'oid serve')`)
		tabs = append(tabs, b)
	}
	alive := 1
	come := func(left []*tab) {
		t.Helper()
		alive++
		decode[wire.Registered](t, r.post(t, "/v1/processes", fmt.Sprintf(`{"name":"shop","pid":%d,"interval_seconds":600}`, alive)), 201)
		for _, b := range left {
			b.await(fmt.Sprintf(`document.querySelector('main [data-refresh]').innerText.includes('%d alive')`, alive))
		}
	}
	come(tabs)
	if n := eval[int](tabs[0], `navigator.locks.query().then(q => q.held.length)`); n != 1 {
		t.Errorf("%d tabs have a stream, want 1", n)
	}
	// The tab with the stream is closed; another takes over.
	for _, b := range tabs[:3] {
		b.do(chromedp.Navigate("about:blank"))
	}
	come(tabs[3:])
	// A stream that died without a word, as in a sleep, is opened again.
	for _, b := range tabs[3:] {
		b.do(chromedp.Evaluate[chromedp.Void](`events?.close(); heard = 0; look()`))
	}
	come(tabs[3:])
}
