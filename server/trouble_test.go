package server_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/server"
)

// What fails is said in the page, with what to do.
func TestPageSaysWhatFails(t *testing.T) {
	r := serve(t, server.Options{})
	b := newTab(t, browserOf(t), r.url)
	b.allowed = []string{"413 (Request Entity", "ERR_CONNECTION_REFUSED", "502 (Bad Gateway"}
	b.open("/")
	b.do(chromedp.Evaluate[chromedp.Void](`{const e = document.querySelector('#id'); e.value = '507f1f77bcf86cd799439011\n'.repeat(60000); e.dispatchEvent(new Event('input', {bubbles: true}))}`))
	b.await(`document.querySelector('#trouble[role=alert]')?.innerText.includes('larger than this server accepts; send less at once')`)
	b.fill("#id", "507f1f77bcf86cd799439011")
	b.await(`document.querySelectorAll('.id-card').length === 1 && document.querySelector('#trouble').hidden`)

	b.open("/processes")
	b.await(`document.querySelector('#result').innerText.includes('1 alive')`)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	b.await(`/Not updated since \d+:\d+.*does not answer/.test(document.querySelector('#trouble')?.innerText)`)
	if !eval[bool](b, `document.querySelector('#result').innerText.includes('oid serve')`) {
		t.Error("what was shown is gone")
	}
}

// When a session has ended, the page leads to the login and back, and what was typed
// is still there.
func TestSessionEndsInTheBrowser(t *testing.T) {
	r := serve(t, server.Options{Token: token})
	b := newTab(t, browserOf(t), r.url)
	b.allowed = []string{"401 (Unauthorized)"}
	b.open("/about")
	b.await(`document.querySelector('#token')`)
	enter := func() {
		t.Helper()
		b.do(chromedp.SendKeys("#token", token), chromedp.Click("form button"))
	}
	enter()
	b.await(`location.pathname === '/about'`)
	b.open("/")
	end := func() { // as in another tab
		t.Helper()
		if status := eval[int](b, `fetch(document.querySelector('.brand').getAttribute('href') + 'logout', {method: 'POST'}).then(r => r.status)`); status != 200 {
			t.Fatalf("logout: %d", status)
		}
	}
	end()
	text := strings.Repeat("507f1f77bcf86cd799439011\n", 1000) // too long for a URL
	b.fill("#id", text)
	b.await(`location.pathname === '/login' && document.querySelector('#token')`)
	enter()
	b.await(`location.pathname === '/' && document.querySelectorAll('#result tbody tr').length === 1000`)

	b.open("/processes?state=alive")
	b.await(`document.querySelector('#result').innerText.includes('oid serve')`)
	end()
	b.await(`location.pathname === '/login' && document.querySelector('#token')`)
	enter()
	b.await(`location.pathname + location.search === '/processes?state=alive'`)

	b.do(chromedp.Click("footer form button")) // Log out
	b.await(`location.pathname === '/login' && document.querySelector('#token')`)
}
