package server_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/server"
)

// What fails is said in the page, with what to do.
func TestPageSaysWhatFails(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	b := newTab(t, browserOf(t), r.url)
	b.allowed = []string{"413 (Request Entity"}
	b.open("/")
	b.do(chromedp.Evaluate[chromedp.Void](`{const e = document.querySelector('#id'); e.value = '507f1f77bcf86cd799439011\n'.repeat(60000); e.dispatchEvent(new Event('input', {bubbles: true}))}`))
	b.await(`document.querySelector('#trouble[role=alert]')?.innerText.includes('larger than this server accepts; send less at once')`)
	b.fill("#id", "507f1f77bcf86cd799439011")
	b.await(`document.querySelectorAll('.id-card').length === 1 && document.querySelector('#trouble').hidden`)

	b.open("/processes")
	b.await(`document.querySelector('#result').innerText.includes('1 alive')`)
	b.lose(r)
	b.await(`/Not updated since \d+:\d+.*does not answer/.test(document.querySelector('#trouble')?.innerText)`)
	if !eval[bool](b, `document.querySelector('#result').innerText.includes('oid serve')`) {
		t.Error("what was shown is gone")
	}
	if at := eval[string](b, `getComputedStyle(document.querySelector('#trouble')).display + document.querySelector('#trouble').getAttribute('role')`); at != "blockalert" {
		t.Errorf("the message is not seen or not read out: %s", at)
	}
}

// When a session has ended, the page leads to the login and back, and what was typed
// is still there.
func TestSessionEndsInTheBrowser(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{Token: token})
	b := newTab(t, browserOf(t), r.url)
	b.allowed = []string{"401 (Unauthorized)"}
	b.open("/range")
	b.await(`document.querySelector('#token')`)
	enter := func() {
		t.Helper()
		b.do(chromedp.SendKeys("#token", token), chromedp.Click("form button"))
	}
	enter()
	b.await(`location.pathname === '/range'`)
	// The end comes from elsewhere: the page itself may be on its way to the login by then.
	end := func() {
		t.Helper()
		got, err := chromedp.Call(b.ctx, network.GetCookies, network.GetCookiesParams{})
		if err != nil || len(got.Cookies) != 1 {
			t.Fatalf("cookies: %v, %v", got.Cookies, err)
		}
		if out := r.do(t, "POST", "/logout", nil, "Cookie", got.Cookies[0].Name+"="+got.Cookies[0].Value); out.status != 303 {
			t.Fatalf("logout: %d", out.status)
		}
	}
	// A view that is not live goes to the login when somebody types, also a text that is too
	// long for a URL.
	b.open("/")
	b.fill("#id", strings.Repeat("507f1f77bcf86cd799439011\n", 1000))
	b.await(`document.querySelectorAll('#result tbody tr').length === 1000`)
	end()
	b.fill("#id", strings.Repeat("507f1f77bcf86cd799439011\n", 1001))
	b.await(`location.pathname === '/login' && document.querySelector('#token')`)
	enter()
	b.await(`location.pathname === '/' && document.querySelectorAll('#result tbody tr').length === 1001`)

	// Until then what is typed and sent stays, and only the head says that it is not up to
	// date.
	b.open("/range")
	end()
	b.await(`document.querySelector('#alive')?.dataset.since && location.pathname === '/range'`)
	b.fill("#from", "2026-11-01")
	b.await(`location.pathname === '/login' && document.querySelector('#token')`)
	enter()
	b.await(`location.pathname === '/range' && document.querySelector('#from')?.value === '2026-11-01' && document.querySelector('.tile b.id')?.innerText.startsWith('6ae681')`)

	// A live view goes to the login by itself.
	b.open("/processes?state=alive")
	b.await(`document.querySelector('#result').innerText.includes('oid serve')`)
	end()
	b.await(`location.pathname === '/login' && document.querySelector('#token')`)
	enter()
	b.await(`location.pathname + location.search === '/processes?state=alive'`)

	b.do(chromedp.Click("footer form button")) // Log out
	b.await(`location.pathname === '/login' && document.querySelector('#token')`)
}
