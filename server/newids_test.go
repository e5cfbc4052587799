package server_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

var hexID = regexp.MustCompile(`\b[0-9a-f]{24}\b`)

// createOnPage sends the form of the page.
func createOnPage(t *testing.T, r *running, form string) reply {
	t.Helper()
	return r.do(t, "POST", "/new", strings.NewReader(form), "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
}

// november is the clock of a server whose ids all begin alike.
func november() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) }

// The page creates ids without a script: as many as asked for, in every format, and the
// ids are traced to the server.
func TestNewIDsOnThePage(t *testing.T) {
	r := serve(t, server.Options{})
	first := hexID.FindString(regexp.MustCompile(`data-copy="[0-9a-f]{24}`).FindString(r.get(t, "/", "Accept", "text/html").body))
	if in := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+first), 200); in.Trace == nil || in.Trace.Verdict != "known" || len(in.Readings) != 1 {
		t.Errorf("an id of the start page: %+v, want one of the server, in the modern layout only", in)
	}
	got := createOnPage(t, r, "count=60&format=hex")
	if n := len(hexID.FindAllString(got.body, -1)); got.status != 200 || n < 60 {
		t.Errorf("60 ids: status %d, %d ids", got.status, n)
	}
	early := serve(t, server.Options{Now: november})
	for format, want := range map[string]string{
		"mongosh": "ObjectId(&#34;6ae681", "json": "{&#34;$oid&#34;:&#34;6ae681", "node": "new ObjectId(&#34;6ae681", "go": "objectid.MustParse(&#34;6ae681",
		"sql": "X&#39;6ae681", "postgres": `&#39;\x6ae681`, "base64": "auaBA",
	} {
		if got := createOnPage(t, early, "count=2&format="+format); got.status != 200 || strings.Count(got.body, want) != 2 {
			t.Errorf("%s: status %d without two of %q", format, got.status, want)
		}
	}
	for form, want := range map[string]string{
		"count=0": "want a whole number", "count=x": "want a whole number", "count=10001": "oid new -n 10001", "count=1&format=xml": "format",
	} {
		if got := createOnPage(t, r, form); got.status != 422 || !strings.Contains(got.body, want) {
			t.Errorf("%s: status %d without %q", form, got.status, want)
		}
	}
}

// What the page writes, it reads: an id in each of its formats can be pasted into it.
func TestFormatsOfThePageCanBePasted(t *testing.T) {
	r := serve(t, server.Options{Now: november})
	formats := regexp.MustCompile(`<option value="(\w+)" title=`).FindAllStringSubmatch(createOnPage(t, r, "count=1").body, -1)
	if len(formats) < 5 {
		t.Fatalf("the page offers %d formats", len(formats))
	}
	for _, format := range formats {
		page := createOnPage(t, r, "count=1&format="+format[1]).body
		made := regexp.MustCompile(`data-copy-all="">(?:<code>(.*)\n</code>|<li class="id" data-copy="(\w+)")`).FindStringSubmatch(page)
		if made == nil {
			t.Fatalf("%s: the page has no new id", format[1])
		}
		text := html.UnescapeString(made[1] + made[2])
		pasted := r.get(t, "/?id="+url.QueryEscape(text), "Accept", "text/html").body
		if strings.Contains(pasted, "not an id") || !strings.Contains(pasted, "2026-11-01 00:00:00 UTC") {
			t.Errorf("%s: the page does not read %q", format[1], text)
		}
	}
}

// Those who may only read are offered no new ids.
func TestNewIDsNeedATokenForThem(t *testing.T) {
	r := serve(t, server.Options{Tokens: twoTokens})
	for i, offered := range []bool{true, false} {
		session := logIn(t, r, twoTokens[i].Value)
		page := r.get(t, "/", "Cookie", session, "Accept", "text/html").body
		if strings.Contains(page, `action="/new"`) != offered || strings.Contains(page, "data-copy=") != offered {
			t.Errorf("with token %q the page offers new ids: %v, want %v", twoTokens[i].Name, !offered, offered)
		}
		if got := r.do(t, "POST", "/new", strings.NewReader("count=1"), "Cookie", session, "Content-Type", "application/x-www-form-urlencoded"); (got.status == 200) != offered {
			t.Errorf("with token %q: status %d", twoTokens[i].Name, got.status)
		}
	}
}

// Somebody creates ids, copies them, and inspects one in a zone of their choice.
func TestCreateAndRead(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	b := newTab(t, browserOf(t), r.url)
	b.open("/")
	b.do(chromedp.Evaluate[chromedp.Void](`window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text) }`))
	first := eval[string](b, `document.querySelector('#new li').dataset.copy`)
	b.fill("#count", "3")
	b.do(chromedp.Click("#new [type=submit]"))
	b.await(`document.querySelectorAll('#new li').length === 3 && document.querySelector('#new li').dataset.copy !== '` + first + `'`)
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('#new button')].find(b => b.innerText === 'Copy all').click()`))
	b.await(`copied.length === 1 && copied[0].split('\n').length === 3`)
	b.do(chromedp.Click("#new li .copy"))
	b.await(`copied.length === 2 && copied[1] === copied[0].split('\n')[0]`)
	b.fill("#count", "100")
	b.fill("#format", "mongosh")
	b.do(chromedp.Click("#new [type=submit]"))
	b.await(`document.querySelector('#new pre')?.innerText.trim().split('\n').length === 100 && /^ObjectId\("[0-9a-f]{24}"\)/.test(document.querySelector('#new pre').innerText)`)

	b.fill("#id", "507f1f77bcf86cd799439011")
	b.await(`document.querySelector('.id-card')`)
	b.do(chromedp.Evaluate[chromedp.Void](`{const z = document.querySelector('#zone'); z.value = 'Europe/Berlin'; z.dispatchEvent(new Event('change'))}`))
	b.await(`document.querySelector('.says').innerText.includes('2012-10-17 23:13:27 Europe/Berlin · 2012-10-17 21:13:27 UTC')`)
	b.do(chromedp.Click(".menu summary"))
	b.await(`document.querySelector('.menu dl').innerText.includes('{"$oid":"507f1f77bcf86cd799439011"}')`)
	if eval[bool](b, `document.querySelector('.readings').open`) {
		t.Error("the other readings are not folded")
	}
	// The zone is that of the times that are typed, too, and stays.
	b.open("/range")
	b.fill("#from", "2026-11-02")
	b.await(`document.querySelector('.tile b.id')?.innerText.startsWith('6ae7c470')`)
	b.await(`document.querySelector('.tile time').innerText === '2026-11-02 00:00:00+01:00'`)
}
