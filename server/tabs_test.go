package server_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// Eight tabs of one browser, more than it opens connections, all show a process that
// comes, also when others are closed.
func TestTabsLive(t *testing.T) {
	t.Parallel()
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
	for _, b := range tabs[:3] {
		b.do(chromedp.Navigate("about:blank"))
	}
	come(tabs[3:])
}
