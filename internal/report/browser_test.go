package report_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/report"
	"github.com/oidkit/oid/internal/testenv"
)

// crowded returns what does not fit on the page: text that is cut off or small, labels of
// plots that touch each other, and panels that scroll.
const crowded = `(() => {
	const found = [];
	if (document.documentElement.scrollWidth > innerWidth) found.push('page ' + document.documentElement.scrollWidth);
	for (const p of document.querySelectorAll('.panel'))
		if (p.scrollWidth > p.clientWidth + 1) found.push(p.getAttribute('aria-label') + ' ' + p.scrollWidth + ' of ' + p.clientWidth);
	for (const svg of document.querySelectorAll('svg')) {
		const at = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
		if (at.width === 0) continue; // not shown
		texts.forEach(([a, r], i) => {
			if (r.left < at.left - 1 || r.right > at.right + 1) found.push(a + ' is cut off');
			if (r.height < 9.9) found.push(a + ' is ' + r.height + ' high');
			for (const [b, s] of texts.slice(i + 1))
				if (r.left < s.right && s.left < r.right && r.top + 2 < s.bottom && s.top + 2 < r.bottom) found.push(a + ' touches ' + b);
		});
	}
	return found.join('\n');
})()`

// TestPageFits opens the page of the story in a browser, and one of several collections
// with long names.
func TestPageFits(t *testing.T) {
	testenv.WithoutRace(t)
	browser := testenv.Chromium(t)
	one, other := small(), small()
	one.Collection, other.Collection = "shop.orders", strings.Repeat("shop.customers", 8)
	one.Sources[0].Name = "/srv/backups/" + strings.Repeat("mongodump-2026-11-20/", 6)
	one.Findings[0].Examples[0].Position.Source = one.Sources[0].Name
	for name, r := range map[string]*census.Report{
		"story":       storyReport(t),
		"one":         small(),
		"collections": {Field: "_id", Sources: one.Sources, Others: one.Others, Collections: []*census.Report{one, other}},
	} {
		var page strings.Builder
		if err := report.WriteHTML(&page, r); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "census.html")
		if err := os.WriteFile(file, []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		fits(browser, t, name, (&url.URL{Scheme: "file", Path: file}).String())
	}
}

// fits opens a page as wide as a phone and as a desk, light and dark.
func fits(ctx context.Context, t *testing.T, name, page string) {
	t.Helper()
	for _, width := range []int64{360, 1100} {
		for _, scheme := range []string{"light", "dark"} {
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			}); err != nil {
				t.Fatal(err)
			}
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 740), chromedp.Navigate(page)); err != nil {
				t.Fatal(err)
			}
			if got, err := chromedp.Run(ctx, chromedp.Evaluate[string](crowded)); err != nil || got != "" {
				t.Errorf("%s, %d pixels, %s: %s, %v", name, width, scheme, got, err)
			}
		}
	}
}
