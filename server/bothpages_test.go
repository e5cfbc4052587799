package server_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
)

// bothViews are the views that both pages have: the path of each, and what shows that it is
// complete.
var bothViews = []struct{ name, path, complete string }{
	{"start", "/", "#new .made-ids"},
	{"id", "/?id=507f1f77bcf86cd799439011", ".id-card .readings"},
	{"time", "/?id=201210312040", ".id-card .says + .says"},
	{"table", "/?id=" + strings.Repeat("507f1f77bcf86cd799439011%20", 8), "#result table"},
	{"not-an-id", "/?id=hello", "#result .finding"},
	{"range", "/range?from=2026-11-01&to=2026-12-01", "#result .tiles"},
	{"range-error", "/range?from=soon", "#result .problem"},
	{"odds", "/odds?processes=1000", "#result .tiles"},
	{"census", "/census", "[data-upload]"},
}

// The page of a server and the static page, which anybody may publish below any path, can be
// seen, used with the keyboard alone, and heard.
func TestBothPages(t *testing.T) {
	t.Parallel()
	if behindNginx(t) {
		t.Skip("the static page has no server, and the other tests are about the proxy")
	}
	browser, axe, folder := browserOf(t), testenv.Axe(t), t.TempDir()
	build := exec.Command("go", "run", "./site/build", "-o", folder)
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the static page: %v\n%s", err, out)
	}
	static := httptest.NewServer(http.StripPrefix("/any/path", http.FileServer(http.Dir(folder))))
	t.Cleanup(static.Close)
	for name, site := range map[string]*page.Site{
		"served": {Base: serve(t, server.Options{OpenLocks: withLocks(t)}).url},
		"static": {Base: static.URL + "/any/path/", Static: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, browser, "")
			b.briefly = true
			b.allowed = []string{"422 (Unprocessable"} // of the views that show an error
			see := func(path, complete string) {
				b.t.Helper()
				b.open("about:blank")
				b.open(site.URL(path))
				b.await(fmt.Sprintf(`document.querySelector(%q)`, complete))
			}
			t.Run("looks", func(t *testing.T) {
				b.t = t
				for _, v := range bothViews {
					see(v.path, v.complete)
					b.hear(v.name)
					for _, l := range looks {
						if !site.Static || l.name != "1440" && l.name != "360" {
							continue
						}
						b.as(l)
						if !eval[bool](b, `(() => {
							const e = document.querySelector('#alive'), at = e.getBoundingClientRect();
							return e.checkVisibility() && at.top >= 0 && at.bottom <= innerHeight;
						})()`) {
							t.Errorf("%s at %s: the sentence that nothing leaves the browser is not on the first screen", v.name, l.name)
						}
					}
					if site.Static || os.Getenv(screenshots) != "" { // TestLooks looks at the served page
						b.do(chromedp.Evaluate[chromedp.Void](axe))
						b.look("both-" + v.name + "-" + name)
					}
				}
			})
			t.Run("keyboard", func(t *testing.T) {
				b.t = t
				file := filepath.Join(t.TempDir(), "orders.json")
				testenv.NoError(t, os.WriteFile(file, []byte(dump()), 0o644))
				b.as(looks[0])
				see("/", "#new .made-ids")
				b.useKeyboard(file)
				b.hear("census report")
				b.do(chromedp.Evaluate[chromedp.Void](axe))
				b.look("both-report-" + name)
			})
			b.t = t
		})
	}
	if os.Getenv("OID_WRITE_GENERATED") == "1" {
		drawBoth(newTab(t, browser, ""))
	}
}

// drawBoth draws the picture of both pages side by side that is in the documents, from the
// pictures that the looks have kept.
func drawBoth(b *tab) {
	var html strings.Builder
	html.WriteString(`<body style="margin: 0; display: flex; align-items: flex-start; gap: 8px; background: #888">`)
	for _, name := range []string{"served", "static"} {
		data := testenv.Must(os.ReadFile(filepath.Join(os.Getenv(screenshots), "both-id-"+name+"-1440.png")))(b.t)
		html.WriteString(`<img width="716" alt="" src="data:image/png;base64,` + base64.StdEncoding.EncodeToString(data) + `">`)
	}
	shown := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, html.String()) }))
	b.t.Cleanup(shown.Close)
	b.do(chromedp.EmulateViewport(1440, 590), chromedp.Navigate(shown.URL), chromedp.WaitVisible("img + img"))
	picture := testenv.Must(chromedp.Run(b.ctx, chromedp.CaptureScreenshot()))(b.t)
	testenv.NoError(b.t, os.WriteFile("../docs/both-pages.png", picture, 0o644))
}

// tabTo presses the tab key until an element is focused. The focus must be visible.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	for range 120 {
		b.do(chromedp.KeyEvent(kb.Tab))
		if !eval[bool](b, fmt.Sprintf(`!!document.activeElement?.matches(%q)`, selector)) {
			continue
		}
		if !eval[bool](b, `(() => {
			const e = document.activeElement, seen = e.matches('.choice > input') ? e.nextElementSibling : e;
			return getComputedStyle(seen).outlineStyle !== 'none';
		})()`) {
			b.t.Errorf("%s: nothing shows that it is focused", selector)
		}
		return
	}
	b.t.Fatalf("the tab key does not lead to %s", selector)
}

// typeKeys presses the keys of a text.
func (b *tab) typeKeys(text string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(text))
}

// useKeyboard uses each view with the keyboard alone, from the start page on. file is for the
// census.
func (b *tab) useKeyboard(file string) {
	b.t.Helper()
	b.await(`document.activeElement.id === 'id' && document.querySelector('#new .made-ids button.copy')`)
	b.typeKeys("507f1f77bcf86cd799439011")
	b.await(`document.querySelector('.the-id')?.innerText.startsWith('507f1f77')`)
	b.await(`document.querySelector('#said').textContent.includes('2012-10-17')`) // which a screen reader reads out
	if got := eval[string](b, `document.activeElement.id`); got != "id" {
		b.t.Errorf("after typing, %q is focused", got)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text) }`))
	b.tabTo("#result .the-id button.copy")
	b.typeKeys(kb.Enter)
	b.await(`copied[0] === '507f1f77bcf86cd799439011' && document.querySelector('#said').textContent === 'copied'`)
	b.tabTo(".menu summary")
	b.typeKeys(kb.Enter)
	b.tabTo(".menu dd button")
	b.typeKeys(" ")
	b.await(`copied.length === 2`)
	b.tabTo(".presets a.chip")
	b.typeKeys(kb.Enter)
	b.await(`document.querySelector('#from')?.value.startsWith('2012-10-17')`)

	b.tabTo(".choice > input")
	before := eval[string](b, `document.activeElement.value`)
	b.typeKeys(kb.ArrowRight)
	b.await(fmt.Sprintf(`document.activeElement.checked && document.activeElement.value !== %q`, before))

	b.typeKeys(kb.Escape)
	b.typeKeys("1") // the key of the first view
	b.await(`document.querySelector('#new .made-ids')`)
	b.tabTo("#count")
	b.typeKeys("7" + kb.Enter) // which replaces the number: the tab key has selected it
	b.await(`document.querySelectorAll('#new .made-ids li').length === 7 && document.activeElement.matches('#new [type=submit]')`)
	b.tabTo("#new a")
	b.typeKeys(kb.Enter)
	b.await(`document.querySelector('#processes')`)
	b.tabTo("#processes")
	b.typeKeys("2000")
	b.await(`location.href.includes('2000') && document.querySelector('#result .tile')`)
	b.await(`document.querySelector('#said').textContent.includes('process value')`)

	b.tabTo(`nav a[data-key="3"]`)
	b.typeKeys(kb.Enter)
	b.await(`document.querySelector('[data-upload]')`)
	b.tabTo("#file")
	b.do(chromedp.SetUploadFiles("#file", []string{file})) // the dialog is the browser's
	b.tabTo("[data-upload] button")
	b.typeKeys(kb.Enter)
	b.await(`document.querySelector('.report') && document.activeElement.id === 'main'`)
}

// hear checks what a screen reader is told of the page that a tab shows: its regions, its
// headings in their order, and the name of each thing that can be used.
func (b *tab) hear(view string) {
	b.t.Helper()
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	text := func(v *accessibility.Value) string {
		if v == nil {
			return ""
		}
		return strings.Trim(string(v.Value), `"`)
	}
	count, level := map[string]int{}, 0
	for _, n := range tree.Nodes {
		role := text(n.Role)
		if n.Ignored {
			continue
		}
		count[role]++
		focusable := false
		for _, p := range n.Properties {
			switch p.Name {
			case "focusable":
				focusable = text(p.Value) == "true"
			case "level":
				var l int
				fmt.Sscan(text(p.Value), &l)
				if role == "heading" && l > level+1 {
					b.t.Errorf("%s: the heading %q has the level %d after the level %d", view, text(n.Name), l, level)
				}
				if role == "heading" {
					level = l
				}
			}
		}
		if focusable && text(n.Name) == "" && role != "RootWebArea" && role != "main" {
			b.t.Errorf("%s: a %s has no name", view, role)
		}
	}
	for _, role := range []string{"main", "banner", "navigation", "contentinfo", "status"} {
		if count[role] != 1 {
			b.t.Errorf("%s: %d elements with the role %s, want 1", view, count[role], role)
		}
	}
	if h1 := eval[int](b, `document.querySelectorAll('h1').length`); h1 != 1 {
		b.t.Errorf("%s: %d headings of the first level, want 1", view, h1)
	}
}
