package server_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
)

// tab is a tab of a real browser that looks at a server.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu       sync.Mutex
	messages []string // of the console
	allowed  []string // parts of messages that are expected
	briefly  bool     // axe looks at the largest size alone
	outage   bool     // the server is away, and the browser names that in many ways
}

// newTab opens a tab of browser, on the server at base.
func newTab(t *testing.T, browser context.Context, base string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, base: base}
	if behindNginx(t) {
		b.do()
		if _, err := chromedp.Call(ctx, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true}); err != nil {
			t.Fatal(err)
		}
	}
	console := chromedp.Console(ctx)
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.messages = append(b.messages, m.String())
			b.mu.Unlock()
		}
	}()
	t.Cleanup(func() { b.checkConsole() })
	return b
}

// checkConsole fails the test for every message: the page writes none, and the
// browser does for errors and for what the policy forbids.
func (b *tab) checkConsole() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.messages {
		expected := strings.HasPrefix(m, "info: Autofocus") // somebody was faster than the page
		expected = expected || b.outage && (strings.Contains(m, "net::ERR_") || strings.Contains(m, "502 ("))
		for _, a := range b.allowed {
			if behindNginx(b.t) {
				a, _, _ = strings.Cut(a, "(") // HTTP/2 has no texts for statuses
			}
			expected = expected || strings.Contains(m, a)
		}
		if !expected {
			b.t.Errorf("the console says: %s", m)
		}
	}
	b.messages = nil
}

// lose ends the server. From now on the browser has its own words for what is away.
func (b *tab) lose(r *running) {
	b.t.Helper()
	b.checkConsole()
	b.outage = true
	if err := r.stop(); err != nil {
		b.t.Fatal(err)
	}
}

// patience is for how long one step in the browser may take on a busy machine.
const patience = 60 * time.Second

// do carries out steps in the tab.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx); err != nil { // opens the tab, which must outlive this step
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for i, s := range steps {
		if _, err := chromedp.Run(ctx, s); err != nil {
			b.t.Fatalf("step %d: %v", i+1, err)
		}
	}
}

func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

// eval returns the value of a JavaScript expression, which may be a promise.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if behindNginx(b.t) { // the tests are about the path after that of the base URL
		expression = strings.ReplaceAll(expression, "location.pathname", "location.pathname.slice(4)")
	}
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	for err != nil && strings.Contains(err.Error(), "Inspected target navigated") { // to the page that is meant
		v, err = chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	}
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// fill puts a value into a field, as somebody does who pastes.
func (b *tab) fill(selector, value string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`{const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event('input', {bubbles: true}))}`, selector, value)))
}

// await waits until a JavaScript expression is true.
func (b *tab) await(expression string) {
	b.t.Helper()
	end := time.Now().Add(patience)
	for !eval[bool](b, "!!("+expression+")") {
		if time.Now().After(end) {
			b.t.Fatalf("not true after %v: %s\n%s", patience, expression, eval[string](b, "document.body.innerText"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// look is a way to look at the page.
type look struct {
	name          string
	width, height int64
	zoom          float64
	scheme        string
	axe           string // the rules that the page must keep; empty for none
	media         string // what the user prefers besides the scheme: a feature of media queries and its value
	text          bool   // text is twice as large as the page wants
}

// looks are those of a phone, a tablet and a desk, and of people who need another look.
var looks = []look{
	{"1440", 1440, 900, 1, "light", allRules, "", false},
	{"1440-dark", 1440, 900, 1, "dark", colourRules, "", false},
	{"768", 768, 1024, 1, "light", allRules, "", false},
	{"768-dark", 768, 1024, 1, "dark", colourRules, "", false},
	{"360", 360, 780, 1, "light", "", "", false},
	{"360-dark", 360, 780, 1, "dark", "", "", false},
	{"320", 320, 640, 1, "light", allRules, "", false},
	{"320-dark", 320, 640, 1, "dark", colourRules, "", false},
	{"1440-zoom", 1440, 900, 2, "light", allRules, "", false},
	{"360-forced", 360, 780, 1, "dark", "", "forced-colors: active", false},
	{"1440-still", 1440, 900, 1, "light", "", "prefers-reduced-motion: reduce", false},
	{"360-text", 360, 780, 1, "light", "", "", true},
}

// phone is the smallest of looks.
var phone = looks[6]

func (b *tab) as(l look) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(int64(float64(l.width)/l.zoom), int64(float64(l.height)/l.zoom), chromedp.EmulateScale(l.zoom)))
	feature, value, _ := strings.Cut(l.media, ": ")
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}, {Name: feature, Value: value}}}
	if l.media == "" {
		media.Features = media.Features[:1]
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const all = [...document.querySelectorAll('body *')];
		for (const e of all) if (e.style) e.style.fontSize = '';
		if (%v) all.map((e) => [e, 2 * parseFloat(getComputedStyle(e).fontSize)]).forEach(([e, size]) => { if (e.style) e.style.fontSize = size + 'px'; });
	}`, l.text)))
}

// in makes the browser one of somebody in a zone.
func (b *tab) in(zone string) {
	b.t.Helper()
	b.do()
	if _, err := chromedp.Call(b.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone}); err != nil {
		b.t.Fatal(err)
	}
}

// screenshots is the variable that names the folder for pictures.
const screenshots = "OID_SCREENSHOTS"

// screenshot takes a picture of the whole page, which must be neither blank nor without
// its style, and keeps it in the folder that OID_SCREENSHOTS names, for people to look at.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	scale := 1.0
	if os.Getenv(screenshots) == "" { // to decode all of it takes long
		scale = 1.0 / 3
	}
	// Not by chromedp.Screenshot: that does not find the element after the address has changed
	// within a page.
	size := eval[[]float64](b, `[innerWidth, document.documentElement.scrollHeight]`)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Clip: &page.Viewport{Width: size[0], Height: size[1], Scale: scale}, CaptureBeyondViewport: new(true),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	data := shot.Data
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	colours := map[[3]uint32]bool{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r, g, bl}] = true
		}
	}
	if len(colours) < 10 {
		b.t.Errorf("%s: the picture has %d colours: the page is blank or without its style", name, len(colours))
	}
	if folder := os.Getenv(screenshots); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

// browserOf starts the browser that a test's tabs belong to.
func browserOf(t *testing.T) context.Context {
	t.Helper()
	return testenv.Chromium(t)
}
