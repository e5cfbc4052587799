package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
)

// serveChanged serves the static page, but with what change makes of a file.
func (b *tab) serveChanged(path string, change func(w http.ResponseWriter, whole []byte)) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path == "/"+path {
			if strings.HasSuffix(path, ".js") {
				w.Header().Set("Content-Type", "text/javascript")
			}
			change(w, testenv.Must(os.ReadFile(filepath.Join(publishedAt, path)))(b.t))
			return
		}
		http.FileServer(http.Dir(publishedAt)).ServeHTTP(w, r)
	}))
	b.t.Cleanup(server.Close)
	b.url = server.URL + "/"
}

// watch collects what must not happen: errors of scripts, and what a script of somebody else does.
const watch = `globalThis.wrong = []; for (const name of ['error', 'unhandledrejection', 'securitypolicyviolation']) addEventListener(name, (e) => wrong.push(name + ' ' + (e.message ?? e.reason?.message ?? e.violatedDirective)));
	globalThis.alert = (text) => wrong.push('alert ' + text); return ''`

// TestBackToReport holds that the report stays when its reader goes to one of its parts and back.
func TestBackToReport(t *testing.T) {
	testenv.WithoutRace(t)
	b := newTab(t)
	b.open()
	b.take("folder", filepath.Join(censusInputs(t), "dump"))
	b.do(chromedp.Click(`.report a[href="#c0"]`))
	b.await(`location.hash === '#c0'`)
	b.eval(`const shown = new Promise((resolve) => addEventListener('hashchange', () => setTimeout(resolve, 200))); history.back(); await shown; return ''`)
	if text := b.eval(`return location.hash + ' ' + $('.report h1')?.textContent`); text != "#census Census of 734 ids" {
		t.Errorf("after Back: %s", text)
	}
	b.do(chromedp.Click(`.report a[href="#c0"]`), chromedp.Reload(), chromedp.WaitVisible("#file")) // the report is gone, but what is shown is the census
}

// TestNameOfFileInCommand holds that the command which the page advises can be pasted into a shell,
// whatever the name of the file is.
func TestNameOfFileInCommand(t *testing.T) {
	testenv.WithoutRace(t)
	b := newTab(t)
	b.serveChanged("census.wasm.gz", func(w http.ResponseWriter, _ []byte) { http.Error(w, "gone", http.StatusNotFound) })
	b.open()
	name := filepath.Join(t.TempDir(), "it's; touch $HOME `x`.log")
	testenv.NoError(t, os.WriteFile(name, []byte("65f0a0d0a1b2c3d4e5000001"), 0o600))
	b.take("file", name)
	if text := b.eval(`return $('#trouble').textContent`); !strings.HasSuffix(text, " oid census 'it'\\''s; touch $HOME `x`.log'") {
		t.Errorf("the page says %s", text)
	}
}

// TestProgramOfUnknownLength holds that a server may send the program without its length.
func TestProgramOfUnknownLength(t *testing.T) {
	testenv.WithoutRace(t)
	b := newTab(t)
	b.serveChanged("census.wasm.gz", func(w http.ResponseWriter, whole []byte) {
		w.(http.Flusher).Flush()
		_, _ = w.Write(whole)
	})
	b.open()
	b.eval(watch)
	b.take("file", filepath.Join(censusInputs(t), "list"))
	if text := b.eval(`return $('.report h1')?.textContent + wrong`); text != "Census of 2 ids" {
		t.Errorf("the page says %s", text)
	}
}

// TestShortWrite holds that a census says that the disk is full if its temporary file takes only a
// part of what is written.
func TestShortWrite(t *testing.T) {
	testenv.WithoutRace(t)
	b := newTab(t)
	b.serveChanged("worker.js", func(w http.ResponseWriter, whole []byte) {
		fmt.Fprintf(w, `%s; const write = FileSystemSyncAccessHandle.prototype.write;
			FileSystemSyncAccessHandle.prototype.write = function (data, options) { return write.call(this, data.subarray(0, data.length >> 1), options); };`, whole)
	})
	b.open()
	b.eval(`Object.defineProperty(navigator, 'deviceMemory', { value: 0.1 }); return ''`)
	var list strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&list, "5e4fa350b636%02x33a1%06x\n", i%40, i)
	}
	name := filepath.Join(t.TempDir(), "ids")
	testenv.NoError(t, os.WriteFile(name, []byte(list.String()), 0o600))
	b.take("file", name)
	if text := b.eval(`return $('#trouble')?.textContent`); !strings.Contains(text, "No space left on device") {
		t.Errorf("the page says %s", text)
	}
}

// payloads are texts that become scripts where somebody forgets to escape them.
var payloads = []string{
	`<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `'><script>alert(1)</script>`, `</textarea><script>alert(1)</script>`, `</style><script>alert(1)</script>`,
	`javascript:alert(1)`, `{{alert(1)}}`, `]]><script>alert(1)</script>`, `--><script>alert(1)</script>`, `__proto__`, "\u202e\u2066<b>\u200b",
}

// TestNamesAreText puts payloads where a census shows names: of files, folders, collections and
// fields, and into documents; and into what is typed and linked. Nothing of it becomes markup.
func TestNamesAreText(t *testing.T) {
	testenv.WithoutRace(t)
	folder := filepath.Join(t.TempDir(), "dump")
	testenv.NoError(t, os.Mkdir(folder, 0o755))
	for i, p := range payloads {
		p = strings.ReplaceAll(p, "/", "∕")
		key := strings.ReplaceAll(payloads[i], `"`, `\"`)
		testenv.NoError(t, os.WriteFile(filepath.Join(folder, p+".json"), []byte(`{"_id":{"$oid":"65f0a0d0a1b2c3d4e500000`+fmt.Sprintf("%x", i)+`"},"`+key+`":"`+key+`"}`), 0o600))
		testenv.NoError(t, os.WriteFile(filepath.Join(folder, p+"2.json"), []byte(`{"_id":"`+key+`","`+key+`":{"$oid":"65f0a0d0a1b2c3d4e5000001"}}`), 0o600))
		testenv.NoError(t, os.WriteFile(filepath.Join(folder, p+".metadata.json"), []byte(`{"collectionName":"`+key+`"}`), 0o600))
	}
	b := newTab(t)
	const bad = `[...document.querySelectorAll('main script, main img, main b b, main textarea textarea, main style')].map((e) => e.outerHTML)
		.concat([...document.querySelectorAll('main *')].flatMap((e) => [...e.attributes].filter((a) => /^on/.test(a.name) || /^\s*(javascript|data):/i.test(a.value) && /href|src|action/.test(a.name)).map((a) => e.tagName + ' ' + a.name + '=' + a.value))).concat(wrong).join('\n')`
	check := func(where string) {
		t.Helper()
		if text := b.eval(`return ` + bad); text != "" {
			t.Errorf("%s: %s", where, text)
		}
	}
	for _, page := range []string{"", "zh/"} {
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+page+"#census"), chromedp.WaitVisible("#file"))
		b.eval(watch)
		b.eval(`globalThis.blobs = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blobs.push(blob); return make(blob); }; return ''`)
		b.take("folder", folder)
		check(page + " report")
		if text := b.eval(`return $('.report')?.textContent ?? document.body.innerText`); !strings.Contains(text, "onerror=alert(1)") {
			t.Errorf("the report has no names: %s", text)
		}
		// The report and the picture as files of their own: no program of anybody runs there.
		saved := b.eval(`return (await Promise.all(blobs.filter((blob) => /html|svg/.test(blob.type)).map(async (blob) => {
			const text = await blob.text(), d = new DOMParser().parseFromString(text, blob.type);
			return [...d.querySelectorAll('img, script, foreignObject, iframe, parsererror')].map((e) => e.outerHTML).concat([...d.querySelectorAll('*')].flatMap((e) => [...e.attributes].filter((a) => /^on/.test(a.name) || /^\s*javascript:/i.test(a.value)).map((a) => a.name)));
		}))).flat().join('\n')`)
		b.eval(`await new Promise((resolve) => setTimeout(resolve, 200)); wrong.length = 0; return ''`) // reading their styles was refused
		if saved != "" {
			t.Errorf("saved: %s", saved)
		}
		for i, p := range payloads {
			if page != "" && i > 2 {
				break // the same code
			}
			for _, form := range []string{"#id=%s", "#%s", "#range=%s", "#range=2026-11-01/2026-12-01&column=%s", "#range=24h&process=%s&tz=%[1]s", "#odds=%s", "#odds=1000&layout=%s", "#new=%s", "#id=2026-11-01T10:00&tz=%s", "#__proto__=%s"} {
				b.eval(fmt.Sprintf(`location.hash = %q.replaceAll('%%s', encodeURIComponent(%q)); await Promise.race([new Promise((resolve) => addEventListener('hashchange', () => setTimeout(resolve), { once: true })), new Promise((resolve) => setTimeout(resolve, 30))]); return ''`, strings.ReplaceAll(form, "%[1]s", "%s"), p))
				check(fmt.Sprintf(form, p))
			}
		}
		for _, address := range []string{"#%", "#id=%", "#range=%E0%A4%A", "#id=%ff%fe", "#range=%00/%00", "#constructor", "#toString=1", "#" + strings.Repeat("%", 5000), "#range=" + strings.Repeat("/", 2000), "#id=&id=&=&&&", "#?", "#=#?#=", "#id=\u202e507f1f77bcf86cd799439011"} {
			b.eval(fmt.Sprintf(`location.hash = %q; await Promise.race([new Promise((resolve) => addEventListener('hashchange', () => setTimeout(resolve), { once: true })), new Promise((resolve) => setTimeout(resolve, 30))]); return ''`, address))
			check(address)
			if text := b.eval(`return String($('main h1') && !/stopped|停止/.test($('#trouble')?.textContent ?? ''))`); text != "true" {
				t.Errorf("%s: %s", address, b.eval(`return document.body.innerText`))
			}
		}
		if polluted := b.eval(`return Object.keys(Object.prototype).join() + String({}.polluted)`); polluted != "undefined" {
			t.Errorf("the prototype of objects has %s", polluted)
		}
	}
}
