package server_test

import "strings"

// fault is something that keeps people from using a page.
type fault struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

// The rules of axe that a page has to keep. Only those of colours can see whether
// it is light or dark.
const (
	allRules    = `'wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'`
	colourRules = `'color-contrast', 'link-in-text-block'`
)

// checkAccess fails the test for every fault of the page that a tab shows.
func (b *tab) checkAccess(name, rules string) {
	b.t.Helper()
	for _, f := range eval[[]fault](b, findFaults(rules)) {
		b.t.Errorf("%s: %s (%s): %s\n  %s", name, f.ID, f.Impact, f.Help, strings.Join(f.Nodes, "\n  "))
	}
}

// findFaults is an expression for the faults of a page. Without the elements that pass
// and without selectors of those that fail, axe needs half the time.
func findFaults(rules string) string {
	return `axe.run(document, {runOnly: [` + rules + `], resultTypes: ['violations'], selectors: false})
	.then(r => r.violations.map(v => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200))})))`
}
