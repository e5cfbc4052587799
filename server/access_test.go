package server_test

import "strings"

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
