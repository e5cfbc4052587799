package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// screens are those on which somebody on call reads a page, and how high they are.
var screens = []look{
	{name: "1440", width: 1440, height: 900, zoom: 1, scheme: "light"},
	{name: "768", width: 768, height: 1024, zoom: 1, scheme: "light"},
	{name: "360", width: 360, height: 800, zoom: 1, scheme: "light"},
}

// readers are in these zones: most pages say a time in UTC as well as in the reader's zone.
var readers = []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"}

// lowest returns where the element of the first line of a card with a name ends, in pixels
// from the top of the page, or -1 if the line is missing or empty.
const lowest = `(() => {
	const line = [...document.querySelectorAll('.id-card .says > div')].find((e) => e.querySelector('dt').innerText === %q);
	return line?.querySelector('dd').innerText.trim() ? line.getBoundingClientRect().bottom + scrollY : -1 })()`

// An id that is pasted shows without scrolling when and by which process it was created,
// whether that lives, its load then, and the ways to its documents and its neighbours.
func TestNightView(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{StoreName: "PostgreSQL", OpenLocks: withLocks(t, "import")})
	views := furnish(t, r)
	b := newTab(t, browserOf(t), r.url)
	_, id, _ := strings.Cut(views["inspect-one"], "id=")
	for _, zone := range readers {
		b.in(zone)
		for _, l := range screens {
			for _, typed := range []bool{false, true} {
				b.as(l)
				if typed {
					b.open("/")
					b.fill("#id", id)
				} else {
					b.open("/?id=" + id)
				}
				b.await(`document.querySelector('.id-card .choice')`)
				for _, name := range []string{"Created", "Process", "Its state", "Load then", "Documents"} {
					if got := eval[float64](b, fmt.Sprintf(lowest, name)); got < 0 || got > float64(l.height) {
						t.Errorf("%s in %s, typed %v: %s ends at %.0f of %d pixels", l.name, zone, typed, name, got, l.height)
					}
				}
				if wide := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
					t.Errorf("%s in %s: the page is %d pixels wider than the screen", l.name, zone, wide)
				}
			}
		}
	}
	b.screenshot("night-360")
	b.as(screens[0])
	b.screenshot("night-1440")
	text := eval[string](b, `document.querySelector('.says').innerText`)
	for _, want := range []string{"shop", "certain", "alive", "memory", "a minute around it", "same process"} {
		if !strings.Contains(text, want) {
			t.Errorf("the card does not say %q: %s", want, text)
		}
	}
	if n := eval[int](b, `document.querySelectorAll('.id-card svg line.event').length`); n != 2 {
		t.Errorf("%d plots mark the time of the id, want 2", n)
	}
	if !strings.Contains(eval[string](b, `document.querySelector('.id-card .query pre:not([hidden])').textContent`), id[:8]+"0000000000000000") {
		t.Error("the query is not for the second of the id")
	}
}

// What the page of an id cannot know it says in words, and no line is empty.
func TestNightViewWithoutAnswers(t *testing.T) {
	with, without := serve(t, server.Options{}), serveAsIs(t, server.Options{}, "127.0.0.1:0")
	worker := decode[wire.Registered](t, with.post(t, "/v1/processes", `{"name":"worker","address":"10.0.0.8:9000","pid":17}`), 201)
	for _, c := range []struct {
		r        *running
		id, want string
	}{
		{with, "507f1f77bcf86cd799439011", "cannot be told without the process"},
		{with, fmt.Sprintf("%08x%s00a1b2c3", time.Now().Unix(), worker.ProcessBlock), "not measured"},
		{without, "507f1f77bcf86cd799439011", "this server has no registry"},
		{with, "000000000000000000000000", "none: this is not an id that a process generated"},
		{with, "507f1f770000000000000000", "none: this is not an id that a process generated"},
		{without, "000000000000000000000000", "none: this is not an id that a process generated"},
	} {
		page := c.r.get(t, "/?id="+c.id, "Accept", "text/html").body
		if !strings.Contains(page, c.want) {
			t.Errorf("%s: the page does not say %q", c.id, c.want)
		}
		if strings.Contains(page, "<dd></dd>") || strings.Contains(page, "<dd><div></div></dd>") {
			t.Errorf("%s: a line is empty", c.id)
		}
	}
}

// Without a script a time in UTC is said once, each query can be chosen, a lock whose waiters
// are not counted says why, and a page that does not exist leads on.
func TestPlainHTML(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{OpenLocks: withLocks(t, "import")})
	for path, wants := range map[string][]string{
		"/locks":   {"not counted", "shows no queue"},
		"/nothing": {`/">Read an id`},
	} {
		page := r.get(t, path, "Accept", "text/html").body
		_, main, _ := strings.Cut(page, "<main")
		for _, want := range wants {
			if !strings.Contains(main, want) {
				t.Errorf("%s does not have %q: %s", path, want, main)
			}
		}
	}
	b := newTab(t, browserOf(t), r.url)
	b.do()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.open("/?id=507f1f77bcf86cd799439011")
	text, err := chromedp.Run(b.ctx, chromedp.Text(".says"))
	if n := strings.Count(text, "UTC"); err != nil || n != 1 {
		t.Errorf("the time is said %d times: %s, %v", n, text, err)
	}
	b.do(chromedp.Click(`.choice label[for$="-python"]`), chromedp.WaitVisible(`[aria-labelledby$="-python"]`), chromedp.WaitNotVisible(`[aria-labelledby$="-mongosh"]`))
}

// The tables of a page are not cut on a desk or a tablet, and no cell of a line of load is
// empty.
func TestTablesAreWhole(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{OpenLocks: withLocks(t, "nightly-report")})
	views := furnish(t, r)
	b := newTab(t, browserOf(t), "")
	for _, name := range []string{"processes", "locks"} {
		for _, zone := range readers {
			b.in(zone)
			b.open(views[name])
			for _, l := range screens[:2] {
				b.as(l)
				if cut := eval[int](b, `Math.max(...[...document.querySelectorAll('.panel.scroll')].map((e) => e.scrollWidth - e.clientWidth))`); cut > 0 {
					t.Errorf("%s at %s in %s: %d pixels of the table are cut", name, l.name, zone, cut)
				}
			}
		}
		if n := eval[int](b, `[...document.querySelectorAll('td, dd')].filter((e) => !e.innerText.trim() && !e.querySelector('svg')).length`); n != 0 {
			t.Errorf("%s: %d cells are empty", name, n)
		}
	}
}

// ticksOf returns the labels of the ticks of all plots, a line each.
const ticksOf = `[...document.querySelectorAll('.ticks')].map((e) => [...e.querySelectorAll('text')].map((t) => t.textContent).join(' ')).join('|')`

// All plots of a page have one time axis, whose ticks are round in the zone that is chosen,
// also in one that is not some whole hours from UTC.
func TestPlotsShareAnAxis(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	views := furnish(t, r)
	b := newTab(t, browserOf(t), "")
	b.open(views["process"])
	// An hour and a bit that begins at an odd second.
	b.await(`document.querySelectorAll('.ticks').length >= 4`)
	for zone, want := range map[string]string{
		"UTC":                 "13:30 13:45 14:00 14:15",
		"Australia/Adelaide":  "11-25 00:15 00:30 00:45", // 10:30 ahead
		"America/New_York":    "08:30 08:45 09:00 09:15",
		"Australia/Melbourne": "00:30 00:45 01:00 01:15",
	} {
		// In one step: the view is replaced when something changes.
		lines := strings.SplitSeq(eval[string](b, fmt.Sprintf(`{
			for (const e of document.querySelectorAll('.ticks')) {
				Object.assign(e.dataset, { from: Date.UTC(2026, 10, 24, 13, 28, 48), to: Date.UTC(2026, 10, 24, 14, 29), step: 900000 });
			}
			const select = document.querySelector('#zone');
			select.value = %q;
			select.dispatchEvent(new Event('change'));
			%s }`, zone, ticksOf)), "|")
		for line := range lines {
			if line != want {
				t.Errorf("%s: ticks %q, want %q", zone, line, want)
			}
		}
		if got := eval[string](b, `document.querySelector('[data-zone-name]').innerText`); got != zone {
			t.Errorf("the page says that its plots are in %s, want %s", got, zone)
		}
	}
	// A tick is where its time is.
	b.await(`[...document.querySelectorAll('.ticks')].every((g) => {
		const left = Number(g.dataset.left), right = Number(g.dataset.right), from = Number(g.dataset.from), to = Number(g.dataset.to), step = Number(g.dataset.step);
		const times = [...g.querySelectorAll('line')].map((e) => from + (to - from) * (Number(e.getAttribute('x1')) - left) / (right - left));
		return times.length > 0 && times.every((t) => Math.abs(t - Math.round(t / step) * step) < step / 100) })`)
}
