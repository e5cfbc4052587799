package server_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
)

// fault is something that keeps people from using a page.
type fault struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

// checkAccess fails the test for every fault of the page that a tab shows.
func (b *tab) checkAccess(name string) {
	b.t.Helper()
	for _, f := range eval[[]fault](b, findFaults) {
		b.t.Errorf("%s: %s (%s): %s\n  %s", name, f.ID, f.Impact, f.Help, strings.Join(f.Nodes, "\n  "))
	}
}

const findFaults = `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
	.then(r => r.violations.map(v => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200))})))`

func TestAccessibility(t *testing.T) {
	axe := testenv.Axe(t)
	r := serve(t, server.Options{})
	views := furnish(t, r)
	browser := browserOf(t)
	b := newTab(t, browser, "")
	b.allowed = []string{"422 (Unprocessable", "404 (Not Found)"}
	for name, address := range views {
		b.open(address)
		b.do(chromedp.WaitVisible("main h1"))
		b.do(chromedp.Evaluate[chromedp.Void](axe))
		for _, l := range []look{looks[0], looks[1], looks[2]} {
			b.as(l)
			b.checkAccess(name + ", " + l.name)
		}
	}

	// The check itself works: it finds what is plainly wrong.
	b.open(views["about"])
	b.do(chromedp.WaitVisible("main h1"), chromedp.Evaluate[chromedp.Void](axe))
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('main').innerHTML = '<img src="/favicon.ico"><input>'; 0`))
	if found := eval[[]fault](b, findFaults); len(found) == 0 {
		t.Error("an image without a text and a field without a label are not found")
	}
}
