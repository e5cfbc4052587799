package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/server"
)

// submit sends a form as a browser without JavaScript does, and waits for the page that
// answers it.
func (b *tab) submit(path, field, value, heading string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const form = document.createElement('form');
		form.method = 'post';
		form.action = %q;
		const input = document.createElement('input');
		[input.name, input.value] = [%q, %q];
		form.append(input);
		document.body.append(form);
		form.submit();
	}`, b.base+path, field, value)))
	b.await(fmt.Sprintf(`document.querySelector('main h1')?.innerText === %q`, heading))
}

// Pages that show an error look as all others do, at every size.
func TestErrorLooks(t *testing.T) {
	t.Parallel()
	axe := testenv.Axe(t)
	browser := browserOf(t)
	for name, c := range map[string]struct {
		options server.Options
		token   string
		show    func(*tab)
		allowed string
	}{
		"403": {
			server.Options{Tokens: []server.Token{{Name: "dashboard", Value: token, ReadOnly: true}}},
			token,
			func(b *tab) { b.submit("/new", "count", "3", "Forbidden") }, "403 (Forbidden",
		},
		"413": {
			server.Options{Limits: server.Limits{Body: 1000}},
			"",
			func(b *tab) {
				b.submit("/", "id", strings.Repeat("507f1f77bcf86cd799439011 ", 100), "Request Entity Too Large")
			},
			"413 (Request Entity",
		},
		"503": {
			server.Options{OpenLocks: func(context.Context) (lock.Locker, error) { return nil, errors.New("no answer") }},
			"",
			func(b *tab) { b.open("/locks"); b.do(chromedp.WaitVisible("main h1")) }, "503 (Service",
		},
	} {
		r := serve(t, c.options)
		b := newTab(t, browser, r.url)
		b.allowed = []string{c.allowed}
		b.open("/range")
		if c.token != "" {
			b.await(`document.querySelector('#token')`)
			b.do(chromedp.SendKeys("#token", c.token), chromedp.Click("form button"))
			b.await(`location.pathname === '/range'`)
		}
		c.show(b)
		b.do(chromedp.Evaluate[chromedp.Void](axe))
		b.look("error-" + name)
	}
}
