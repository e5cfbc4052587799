package server_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// What somebody types is answered without a click, and has a URL.
func TestTyping(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	b := newTab(t, browserOf(t), r.url)
	b.open("/")
	b.do(chromedp.SendKeys("#id", "507f1f77bcf86cd799439011"))
	b.await(`document.querySelector('.the-id')?.innerText.startsWith('507f1f77')`)
	b.do(chromedp.Click(".id-card .readings summary"))
	if text := eval[string](b, `document.querySelector('.id-card').innerText`); !strings.Contains(text, "2012-10-17 21:13:27 UTC") || !strings.Contains(text, "objectid java") {
		t.Errorf("the card says %q", text)
	}
	b.await(`location.search === '?id=507f1f77bcf86cd799439011'`)

	// One more, made by this very server.
	made := decode[wire.IDs](t, r.post(t, "/v1/ids", `{}`), 200).IDs[0]
	b.do(chromedp.SendKeys("#id", "\n"+made.String()))
	b.await(`document.querySelectorAll('.id-card').length === 2`)
	b.await(`document.querySelector('.made a')?.innerText === 'oid serve'`)
	chip := func(name string) string {
		return eval[string](b, fmt.Sprintf(`Array.from(document.querySelectorAll('.presets a')).find(a => a.innerText === %q)?.search ?? ''`, name))
	}
	ran := chip("same process")
	if span := decode[wire.Range](t, r.get(t, "/v1/range"+ran), 200); ran == "" || span.From.ID.Compare(made) > 0 || span.To.ID.Compare(made) <= 0 {
		t.Errorf("the process ran at %q, from %v to %v, and created %v", ran, span.From, span.To, made)
	}
	unknown := chip("same process value, within a day") // of the first id
	b.open("/range" + unknown)
	b.await(`document.querySelector('#process')?.value === 'bcf86cd799' && document.querySelector('#from').value === '2012-10-17T09:13:27Z'`)
	b.open("/range" + ran)
	b.await(fmt.Sprintf(`document.querySelector('#process')?.value === %q`, made.String()[8:16]))
	b.await(fmt.Sprintf(`document.querySelector('[aria-labelledby=q-range-mongosh]').innerText.endsWith('8, 8 ] }, "%s" ] } }')`, made.String()[8:16]))
	if eval[bool](b, `!!document.querySelector('#q-range-go')`) {
		t.Error("a Go range is shown for a process, which it cannot ask for")
	}
	b.do(chromedp.Click(`.presets a[href*="since=7d"]`))
	b.await(fmt.Sprintf(`location.search === '?since=7d&process=%[1]s' && document.querySelector('#process')?.value === %[1]q`, made.String()[8:16]))
	b.fill("#process", "0a1b2c3d4e")
	b.await(`document.querySelector('.presets a[href*="since=1h"]').search === '?since=1h&process=0a1b2c3d4e'`)
	b.fill("#process", "none")
	b.allowed = []string{"422 (Unprocessable"}
	b.await(`document.querySelector('.problem')?.innerText.includes('want the 10 hexadecimal digits')`)
	b.fill("#process", "")
	b.await(`document.querySelector('#q-range-go')`)
	b.open("/")

	// A thousand do not fit into a URL.
	var many strings.Builder
	for _, id := range decode[wire.IDs](t, r.post(t, "/v1/ids", `{"count":1000}`), 200).IDs {
		many.WriteString(id.String() + "\n")
	}
	b.fill("#id", many.String())
	b.await(`document.querySelectorAll('#result tbody tr').length === 1000`)

	b.open("/range")
	b.do(chromedp.SendKeys("#from", "2026-11-01"), chromedp.SendKeys("#to", "2026-12-01"))
	b.await(`document.querySelector('#result').innerText.includes('6b0e0e000000000000000000')`)
	want := `{ _id: { $gte: ObjectId("6ae681000000000000000000"), $lt: ObjectId("6b0e0e000000000000000000") } }`
	if got := eval[string](b, `document.querySelector('[aria-labelledby=q-range-mongosh]').innerText`); got != want {
		t.Errorf("mongosh: %q, want %q", got, want)
	}
	b.await(`location.search === '?from=2026-11-01&to=2026-12-01'`)
	b.fill("#from", "soon")
	b.allowed = []string{"422 (Unprocessable"}
	b.await(`document.querySelector('.problem')?.innerText.includes('want RFC 3339')`)

	b.fill(".calendar input", "2026-11-02T03:04:05")
	b.await(`document.querySelector('#from').value.startsWith('2026-11-02T03:04')`)
	b.await(`document.querySelector('.tile b.id')?.innerText.startsWith('6ae7fd')`)
}

// Keys open a view, focus its input and copy its result.
func TestKeys(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{OpenLocks: withLocks(t)})
	b := newTab(t, browserOf(t), r.url)
	b.open("/range")
	for i, path := range viewPaths {
		b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.KeyEvent(fmt.Sprint(i+1)))
		b.await(fmt.Sprintf(`location.pathname === %q && document.readyState === 'complete'`, path))
		b.await(`!document.querySelector('[autofocus]') || document.activeElement.autofocus`) // which comes later
	}
	b.open("/range?since=24h")
	// Not by chromedp.KeyEvent: that sends the character also where the page has
	// dealt with the key.
	b.do(chromedp.Evaluate[chromedp.Void](`document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true, cancelable: true}))`))
	b.await(`document.activeElement.id === 'from'`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.await(`document.activeElement === document.body`)
	b.do(chromedp.Evaluate[chromedp.Void](`window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text) }`), chromedp.KeyEvent("c"))
	b.await(`copied.length === 1 && /^[0-9a-f]{24}$/.test(copied[0])`)
	b.await(`document.querySelector('#said').innerText === 'copied'`)
	// Everything can be reached with the tab key, the first thing being the way
	// past the navigation.
	b.open("/range")
	b.do(chromedp.KeyEvent(kb.Tab))
	b.await(`document.activeElement.className === 'skip'`)
}

// A file that is dropped becomes a report in place.
func TestDroppingAFile(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	b := newTab(t, browserOf(t), r.url)
	b.open("/census")
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const files = new DataTransfer();
		files.items.add(new File([%q], 'orders.json'));
		document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));
	}`, dump())))
	b.await(`document.querySelector('.report h1')?.innerText === 'Census of 3,000 ids'`)
	if bars := eval[int](b, `document.querySelectorAll('.report svg rect.bar').length`); bars < 5 {
		t.Errorf("the report has %d bars", bars)
	}

	// What is no dump is refused in place, and the form is there again.
	b.open("/census")
	b.allowed = []string{"422 (Unprocessable"}
	file := filepath.Join(t.TempDir(), "picture.png")
	if err := os.WriteFile(file, []byte("\x89PNG\r\n\x1a\n and more"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.SetUploadFiles("#file", []string{file}), chromedp.Click("[data-upload] button"))
	b.await(`document.querySelector('.problem')?.innerText.includes('unknown format')`)
	good := filepath.Join(t.TempDir(), "ids.txt")
	if err := os.WriteFile(good, []byte("507f1f77bcf86cd799439011\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.SetUploadFiles("#file", []string{good}), chromedp.Click("[data-upload] button"))
	b.await(`document.querySelector('.report h1')?.innerText === 'Census of 1 id'`)
}

// Processes come and go while somebody looks.
func TestProcessesLive(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	b := newTab(t, browserOf(t), r.url)
	b.open("/processes")
	b.await(`document.querySelector('#result').innerText.includes('1 alive')`)
	views := furnish(t, r)
	b.await(`document.querySelector('#result').innerText.includes('2 alive')`)
	b.await(`document.querySelectorAll('svg.spark polyline').length >= 2`)
	b.fill("#state", "ended")
	b.await(`document.querySelectorAll('#result tbody tr').length === 1 && document.querySelector('#result tbody a').innerText === 'worker'`)
	b.open(strings.TrimPrefix(views["process"], r.url))
	b.await(`document.querySelectorAll('.panel svg polyline').length >= 2`)
	if text := eval[string](b, `document.querySelector('main').textContent`); !strings.Contains(text, "team") || !strings.Contains(text, "orders") || !strings.Contains(text, "$substrBytes") ||
		!strings.Contains(text, "substr(hex(_id), 9, 8)") || !strings.Contains(text, "substr(encode(_id, 'hex'), 9, 8)") {
		t.Errorf("the page of a process says %q", text)
	}
	b.await(`[...document.querySelectorAll('.panel svg')].every(svg => {
		const labels = [...svg.querySelectorAll('text:not(.number)')].map(e => e.textContent);
		return labels.length > 0 && new Set(labels).size === labels.length })`)
	// A phone shows the latest of a plot, and what somebody has scrolled to stays.
	b.as(phone)
	const plot = `document.querySelector('.latest')`
	b.await(plot + `.scrollWidth > ` + plot + `.clientWidth + 100 && ` + plot + `.getBoundingClientRect().right >= ` + plot + `.firstElementChild.getBoundingClientRect().right`)
	eval[int](b, plot+`.scrollLeft = -90`)
	eval[string](b, `document.querySelector('#result').dataset.old = 'yes'`)
	b.await(`!document.querySelector('#result').dataset.old`)
	if at := eval[int](b, plot+`.scrollLeft`); at != -90 {
		t.Errorf("after the plot was replaced it is scrolled to %d, not to -90", at)
	}
}

// Who asks for a view without the token gets to it by way of the login.
func TestLoginInTheBrowser(t *testing.T) {
	t.Parallel()
	axe := testenv.Axe(t)
	r := serve(t, server.Options{Token: token})
	b := newTab(t, browserOf(t), r.url)
	b.allowed = []string{"401 (Unauthorized)"}
	b.open("/range?since=2h")
	b.await(`location.pathname === '/login'`)
	b.do(chromedp.SendKeys("#token", "not the token"), chromedp.Click("form button"))
	b.await(`document.querySelector('[role=alert]')?.innerText === 'This token is wrong.'`)
	b.do(chromedp.Evaluate[chromedp.Void](axe))
	b.checkAccess("a wrong token", allRules)
	b.screenshot("login-wrong")
	b.do(chromedp.SendKeys("#token", token), chromedp.Click("form button"))
	b.await(`location.pathname + location.search === '/range?since=2h'`)
	b.do(chromedp.WaitVisible("main h1"))
}

// The forms work without JavaScript.
func TestWithoutScript(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	b := newTab(t, browserOf(t), r.url)
	b.do()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	shows := func(want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		for {
			text, err := chromedp.Run(ctx, chromedp.Text("main"))
			switch {
			case strings.Contains(text, want):
				return
			case ctx.Err() != nil:
				t.Fatalf("the page does not say %q: %q, %v", want, text, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	b.open("/")
	b.do(chromedp.SendKeys("#id", `ObjectId("507f1f77bcf86cd799439011")`), chromedp.Click("form button"))
	shows("2012-10-17 21:13:27 UTC")
	shows("years ago")
	where, err := chromedp.Run(b.ctx, chromedp.Location())
	if err != nil || !strings.HasSuffix(where, "/?id="+url.QueryEscape(`ObjectId("507f1f77bcf86cd799439011")`)) {
		t.Errorf("inspect has the URL %s, %v", where, err)
	}
	b.open("/range")
	b.do(chromedp.SendKeys("#from", "2026-11-01"), chromedp.Click("form button"))
	shows("6ae681000000000000000000")
	file := filepath.Join(t.TempDir(), "orders.json")
	if err := os.WriteFile(file, []byte(dump()), 0o644); err != nil {
		t.Fatal(err)
	}
	b.open("/census")
	b.do(chromedp.SetUploadFiles("#file", []string{file}), chromedp.Click("form button"))
	shows("Census of 3,000 ids")
	b.open("/processes")
	shows("oid serve")
	b.do(chromedp.SendKeys("#state", string(registry.Dead)), chromedp.Click("form button"))
	shows("No processes.")
	b.open("/processes")
	// The link leads to the page of the process.
	b.do(chromedp.Click(".list a"))
	shows("Its ids")
}

// The page's script follows the rule of phrase.Ago.
func TestAgoInTheBrowser(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	b := newTab(t, browserOf(t), r.url)
	b.open("/range")
	const day = 24 * time.Hour
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, length := range []time.Duration{
		time.Second, time.Minute, time.Hour, day, 7 * day, 30 * day, 60 * day, 360 * day, 540 * day, 31_556_952 * time.Second, 2 * 31_556_952 * time.Second, 50 * 365 * day,
	} {
		for _, d := range []time.Duration{length - time.Second, length, 2*length - time.Second, 2 * length} {
			for _, then := range []time.Time{now.Add(d), now.Add(-d)} {
				want := phrase.Ago(then, now)
				if got := eval[string](b, fmt.Sprintf("ago(%d, %d)", then.UnixMilli(), now.UnixMilli())); got != want {
					t.Errorf("ago(%v) = %q, want %q", then.Sub(now), got, want)
				}
			}
		}
	}
}
