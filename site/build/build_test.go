package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

var buildOnce = sync.OnceValues(func() (map[string][]byte, error) { return build(false, "https://example.org/ids") })

// built returns the files of the folder, which is built once.
func built(t *testing.T) map[string][]byte {
	t.Helper()
	testenv.Long(t, "builds the static page")
	return testenv.Must(buildOnce())(t)
}

// host is a web server that knows nothing of the page.
type host struct {
	*httptest.Server
	mu      sync.Mutex
	files   map[string][]byte
	instead map[string]http.HandlerFunc // answers for some files
}

func serve(t *testing.T) *host {
	t.Helper()
	s := &host{files: maps.Clone(built(t)), instead: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.StripPrefix("/a/b/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path
		if name == "" || strings.HasSuffix(name, "/") {
			name += "index.html"
		}
		s.mu.Lock()
		data, instead := s.files[name], s.instead[name]
		s.mu.Unlock()
		switch {
		case instead != nil:
			instead(w, r)
		case data == nil:
			http.NotFound(w, r)
		default:
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
		}
	})))
	t.Cleanup(s.Close)
	return s
}

// set changes the files of the server.
func (s *host) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// newer makes the server have another version of the page, with this title.
func (s *host) newer(t *testing.T, title string) {
	t.Helper()
	b := builder{files: maps.Clone(built(t))}
	b.files["index.html"] = bytes.Replace(b.files["index.html"], []byte("<title>"), []byte("<title>"+title), 1)
	b.files["page.js"] = append([]byte("globalThis.version = '"+title+"';\n"), b.files["page.js"]...)
	b.files["sw.js"] = testenv.Must(os.ReadFile("../static/sw.js"))(t)
	b.worker(nil)
	s.set(func() { s.files = b.files })
}

// The same tree gives the same files, without ids or times of the build.
func TestReproducible(t *testing.T) {
	first := built(t)
	t.Setenv("CGO_ENABLED", "1") // as for tests with the race detector
	again, err := build(false, "https://example.org/ids/")
	if err != nil || !maps.EqualFunc(again, first, bytes.Equal) {
		t.Errorf("two builds differ, %v", err)
	}
}

// A build that fails gives no files, so that nobody publishes a part of a page.
func TestFailedBuild(t *testing.T) {
	if files, err := build(false, "example.org"); err == nil || len(files) > 0 {
		t.Errorf("a URL without a scheme: %d files, %v", len(files), err)
	}
	program, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	if err := os.Symlink(program, filepath.Join(path, "go")); err != nil {
		t.Fatal(err)
	}
	built(t)               // the build cache has the programs
	t.Setenv("PATH", path) // without gzip
	if files, err := build(false, ""); err == nil || !strings.Contains(err.Error(), "gzip") || len(files) > 0 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// What search engines and chats read of the page is in its head, in both languages.
func TestHead(t *testing.T) {
	files := built(t)
	for name, wants := range map[string][]string{
		"index.html": {
			`<html lang="en"`, "<title>MongoDB ObjectId to timestamp converter", `name="description" content="Convert a MongoDB ObjectId`, `property="og:url" content="https://example.org/ids/"`,
			`property="og:image" content="https://example.org/ids/og.png"`, `rel="canonical" href="https://example.org/ids/"`, `hreflang="zh-CN" href="https://example.org/ids/zh/"`, `href="manifest.json"`,
		},
		"zh/index.html": {`<html lang="zh-CN"`, "<title>MongoDB ObjectId 时间戳", `property="og:url" content="https://example.org/ids/zh/"`, `hreflang="en" href="https://example.org/ids/"`, `src="../page.js"`, `href="../manifest.zh.json"`},
	} {
		for _, want := range append(wants, `content="default-src &#39;none&#39;; script-src &#39;self&#39; &#39;wasm-unsafe-eval&#39; &#39;sha256-`) {
			if !bytes.Contains(files[name], []byte(want)) {
				t.Errorf("%s lacks %s", name, want)
			}
		}
		policy := strings.ReplaceAll(string(regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindSubmatch(files[name])[1]), "&#39;", "'")
		policy = regexp.MustCompile(`sha256-[A-Za-z0-9+/]{43}=`).ReplaceAllString(strings.ReplaceAll(policy, "&#43;", "+"), "sha256")
		if want := "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256'; style-src 'sha256'; img-src 'self' blob: data:; connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'"; policy != want {
			t.Errorf("the policy of %s is %q, want %q", name, policy, want)
		}
	}
	for name, data := range files {
		if strings.HasSuffix(name, ".js") && (bytes.Contains(data, []byte("RTCPeer")) || bytes.Contains(data, []byte("window.open"))) {
			t.Errorf("%s has a way out that the policy does not block", name)
		}
	}
	b := builder{files: maps.Clone(files)}
	b.files["now.js"], b.files["manifest.json"] = nil, nil
	if b.pages(); b.err != nil || bytes.Contains(b.files["index.html"], []byte("canonical")) || bytes.Contains(b.files["index.html"], []byte("og.png")) {
		t.Errorf("without a URL the head has addresses that need one, %v", b.err)
	}
}

// tab is a tab of a browser.
type tab struct {
	*testing.T
	ctx context.Context
}

func open(t *testing.T, url string) tab {
	t.Helper()
	return openIn(t, testenv.Chromium(t), url)
}

func openIn(t *testing.T, browser context.Context, url string) tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := tab{t, ctx}
	b.do(chromedp.Navigate(url))
	return b
}

func (b tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx); err != nil { // opens the tab, which must outlive this step
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// try returns the value of an expression, which may await promises, as text.
func (b tab) try(expression string) (string, error) {
	return chromedp.Run(b.ctx, chromedp.Evaluate[string](`(async () => String(`+expression+`))()`, chromedp.EvalAwaitPromise))
}

func (b tab) eval(expression string) string {
	b.Helper()
	text, err := b.try(expression)
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return text
}

// await waits until an expression has a text.
func (b tab) await(expression, want string) {
	b.Helper()
	got := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		text, err := b.try(expression)
		if got = text; err == nil && strings.Contains(text, want) {
			return
		}
	}
	b.Fatalf("%s is %q, want %q", expression, got, want)
}

// ids are ids for which both cards are compared.
var ids = []string{
	"507f1f77bcf86cd799439011", "4e7020cb7cac81af7136236b", "5e4fa350b636f733a15d6f62", "4d88e15b60f486e428412dc9", sample,
	"000000010000000000000001", "0000001effffffffff000000", "7fffffff7cac81af71ffffff", "800000007cac81af71000000", "fffffffe7cac81af7136236b", "66f1a2b366f1a2b36608192a",
}

// hold never answers.
func hold(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// While the program does not load, one id shows what Go says of it.
func TestAtOnce(t *testing.T) {
	s := serve(t)
	s.instead["oid.wasm.gz"] = hold
	b := open(t, s.URL+"/a/b/#id=507F1F77BCF86CD799439011")
	b.await(`document.querySelector('#result .says time').textContent`, "2012-10-17 21:13:27 UTC")
	b.await(`document.querySelector('#result .strip').textContent`, "507f1f77bcf86cd799439011")
	b.await(`document.querySelector('#result .copy').textContent`, "Copy")
	for _, text := range ids {
		id := objectid.MustParse(text)
		var want strings.Builder
		if err := (&page.Site{Static: true, Docs: repository + documentMap}).Card(atOnce(id)).Render(&want); err != nil {
			t.Fatal(err)
		}
		plain := strconv.Quote(string(ages.Get().ReplaceAll([]byte(want.String()), []byte("$1<"))))
		if got := b.eval(`(() => { const e = document.createElement('template'); e.innerHTML = ` + plain + `; const a = e.innerHTML, b = card('` + text + `'); return a === b || a.replace(b.slice(0, [...a].findIndex((c, i) => c !== b[i])), ''); })()`); got != "true" {
			t.Errorf("%s: only Go says %.300s", text, got)
		}
	}
	for _, first := range []string{"#id=000000000000000000000001", "#4e7020cb7cac81af7136236b", "#id=%", "#id=ObjectId(%22507f1f77bcf86cd799439011%22)"} {
		b.eval(`location.hash = '` + first + `'`)
		b.await(`document.querySelector('#result .says time')?.textContent ?? ''`, map[string]string{"#id=0": "1970-01-01 00:00:00 UTC", "#4e70": "2011-09-14 03:34:35 UTC", "#id=%": "", "#id=O": "2012-10-17 21:13:27 UTC"}[first[:min(len(first), 5)]])
	}
	// A zone with another offset at that time.
	b.do(chromedp.Evaluate[chromedp.Void](`localStorage.setItem('zone', 'America/New_York')`))
	b.do(chromedp.Reload())
	b.await(`document.querySelector('#result .says').textContent`, "2012-10-17 17:13:27 America/New_York · 2012-10-17 21:13:27 UTC")
}

// Nothing jumps when the view of the program replaces that of the script, but for what is below
// its longer text on a phone.
func TestNothingJumps(t *testing.T) {
	for _, width := range []int64{360, 1440} {
		s := serve(t)
		loads := make(chan struct{})
		data := s.files["oid.wasm.gz"]
		s.instead["oid.wasm.gz"] = func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-loads:
				_, _ = w.Write(data)
			case <-r.Context().Done():
			}
		}
		b := open(t, "about:blank")
		b.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(s.URL+"/a/b/#id=66f1a2b3c4d5e6f708192a3c"))
		const tops = `JSON.stringify([...document.querySelectorAll('#id, #result .strip, #result .menu, #result dt, #result time' + (innerWidth > 1000 ? ', #result .choice' : ''))].map((e) => [e.tagName, Math.round(e.getBoundingClientRect().top), Math.round(e.getBoundingClientRect().left)]))`
		b.await(`document.querySelector('#result .copy')?.textContent`, "Copy")
		before := b.eval(tops)
		close(loads)
		b.await(`document.querySelector('#result').textContent`, "likely")
		if after := b.eval(tops); after != before {
			t.Errorf("%d pixels wide: at once\n%s\nthen\n%s", width, before, after)
		}
	}
}

// What the script takes for an id is the same id for Go, and the only one in the text.
func TestWhatIsOneID(t *testing.T) {
	b := open(t, serve(t).URL+"/a/b/")
	const hex = "507f1f77bcf86cd799439011"
	for text, want := range map[string]string{
		hex: hex, "  507F1F77BCF86CD799439011\n": hex, `"` + hex + `"`: hex, `'` + hex + `',`: hex, `ObjectId("` + hex + `")`: hex, `new ObjectId('` + hex + `');`: hex,
		`{"$oid":"` + hex + `"}`: hex, `{ "$oid" : "` + hex + `" },`: hex, `objectid("` + hex + `")`: hex, "ObjectId(" + hex + ")": hex,
		hex + "0": "", hex[1:]: "", hex + " " + hex: "", `"` + hex: "", `{"_id":{"$oid":"` + hex + `"}}`: "", hex + "g": "", "x" + hex: "", hex[:12] + "-" + hex[12:]: "", "": "", "ffffffff" + hex[8:]: "", // its second has no end
	} {
		if got := b.eval(`single.exec(` + strconv.Quote(text) + `)?.[2].toLowerCase() ?? ''`); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if want == "" {
			continue
		}
		n := 0
		for piece, err := range inspect.Scan(strings.NewReader(text)) {
			if n++; err != nil || piece.Text != hex && !strings.EqualFold(strings.Trim(piece.Text, `"'`), hex) {
				t.Errorf("Go finds %q in %q, %v", piece.Text, text, err)
			}
		}
		if n != 1 {
			t.Errorf("Go finds %d ids in %q", n, text)
		}
	}
}

// Opened as a file, the page reads one id and says what a web server adds.
func TestAsFile(t *testing.T) {
	folder := t.TempDir()
	for name, data := range built(t) {
		if !strings.Contains(name, "/") {
			if err := os.WriteFile(folder+"/"+name, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := open(t, "file://"+folder+"/index.html#id=507f1f77bcf86cd799439011")
	b.await(`document.querySelector('#result .says time').textContent`, "2012-10-17 21:13:27 UTC")
	b.await(`document.querySelector('#trouble').textContent`, "python3 -m http.server")
	b.eval(`(() => { const e = document.getElementById('id'); e.value = 'ObjectId("4e7020cb7cac81af7136236b")'; e.dispatchEvent(new Event('input', {bubbles: true})); })()`)
	b.await(`document.querySelector('#result .says time').textContent`, "2011-09-14 03:34:35 UTC")
	time.Sleep(300 * time.Millisecond) // as long as the script waits before it asks the program
	b.await(`document.querySelector('#result .says time').textContent`, "2011-09-14 03:34:35 UTC")
}

// After the first visit the page works without a server, and a new version replaces it.
func TestOffline(t *testing.T) {
	s := serve(t)
	b := open(t, s.URL+"/a/b/")
	b.await(`(await navigator.serviceWorker.ready).active.state`, "activated")
	dump := filepath.Join(t.TempDir(), "orders.json")
	testenv.NoError(t, os.WriteFile(dump, []byte(`{"_id":{"$oid":"507f1f77bcf86cd799439011"}}`), 0o600))
	census := func(folder, want string) {
		t.Helper()
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.URL+"/a/b/"+folder+"#census"), chromedp.SetUploadFiles("#file", []string{dump}), chromedp.Click("[data-upload] [type=submit]"))
		b.await(`document.querySelector('main').innerText`, want)
	}
	kept := `(await (await caches.open((await caches.keys())[0])).keys()).map((r) => r.url.replace(/.*\//, '')).join()`
	if got := b.eval(kept); !strings.Contains(got, "census.js") || !strings.Contains(got, "oid.wasm.gz") || strings.Contains(got, "census.wasm.gz") {
		t.Errorf("kept: %s", got)
	}
	s.set(func() {
		for name := range s.files {
			s.instead[name] = func(w http.ResponseWriter, r *http.Request) {
				if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
					c.Close()
				}
			}
		}
	})
	for address, want := range map[string]string{
		"#id=01ARZ3NDEKTSV4RRFFQ69G5FAV": "ulid", "#range=2026-11-01/2026-12-01": "6ae681000000000000000000", "#odds=1000": "1 in ",
		"index.html#id=c232ab00-9414-11ec-b3c8-9f6bdeced846": "uuid", "zh/#range=2026-11-01/2026-12-01": "6ae681000000000000000000",
	} {
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.URL+"/a/b/"+address))
		b.await(`document.querySelector('main').textContent`, want)
	}
	census("", "census.wasm.gz: this browser has not kept the file, and the server does not answer")
	away := maps.Clone(s.instead)
	s.set(func() { clear(s.instead) })
	census("zh/", "1 ObjectId")
	s.set(func() { s.instead = away })
	census("", "1 ObjectId")
	s.newer(t, "Second ")
	s.set(func() { clear(s.instead) })
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.URL+"/a/b/#id=507f1f77bcf86cd799439011"))
	b.await(`document.querySelector('#result').textContent`, "classic")
	// While only some files of a new version are there, the old one stays.
	var asked atomic.Int32
	s.set(func() {
		s.instead["page.js"] = func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); _, _ = w.Write([]byte("'old'")) }
	})
	const update = `(navigator.serviceWorker.getRegistration().then((r) => r.update()).catch(() => {}), 'asked')`
	b.eval(update)
	testenv.Await(t, "the new worker asks for page.js, past the browser's cache too", func() error {
		if asked.Load() < 2 {
			return errors.New("not yet")
		}
		return nil
	})
	b.await(`!(await navigator.serviceWorker.getRegistration()).installing`, "true")
	if state := b.eval(`(await navigator.serviceWorker.getRegistration()).waiting?.state`); state != "undefined" {
		t.Errorf("a worker with files of two versions is %s", state)
	}
	s.set(func() { clear(s.instead) })
	b.eval(update)
	b.await(`(await navigator.serviceWorker.getRegistration()).waiting?.state`, "installed")
	if title := b.eval(`document.title + (globalThis.version ?? 'first')`); strings.Contains(title, "Second") {
		t.Errorf("a tab of the first version has parts of the second: %s", title)
	}
	b.eval(`(setTimeout(() => location.reload()), '')`) // the page reloads itself again, so nobody can wait for its end
	b.await(`globalThis.version`, "Second")
	b.await(`document.querySelector('#result').textContent`, "classic")
	if names := b.eval(`(await caches.keys()).length`); names != "1" {
		t.Errorf("%s versions are kept", names)
	}
}

// A browser that keeps nothing for a page, not even its choice of a zone, shows it.
func TestWithoutStorage(t *testing.T) {
	b := open(t, "about:blank")
	if _, err := chromedp.Call(b.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{
		Source: `for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(globalThis, name, { configurable: true, get() { throw new DOMException('denied', 'SecurityError'); } });`,
	}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(serve(t).URL + "/a/b/#id=507f1f77bcf86cd799439011"))
	b.await(`document.querySelector('#result').textContent`, "classic")
	b.await(`document.querySelector('#zone').options.length > 100`, "true")
}

// Browsers offer to install the page.
func TestInstall(t *testing.T) {
	b := open(t, serve(t).URL+"/a/b/zh/")
	b.await(`(await navigator.serviceWorker.ready).active.state`, "activated")
	manifest, err := chromedp.Call(b.ctx, cdppage.GetAppManifest, cdppage.GetAppManifestParams{})
	if err != nil || len(manifest.Errors) > 0 || manifest.Data == "" {
		t.Errorf("manifest: %v %v %q", err, manifest.Errors, manifest.Data)
	}
	for _, part := range strings.Split(manifest.Data, `"src": "`)[1:] {
		if name, _, _ := strings.Cut(part, `"`); pictures[name][0] == 0 || !strings.Contains(part, fmt.Sprintf(`"%[1]dx%[1]d"`, pictures[name][0])) {
			t.Errorf("the icon %s is not there, or has another size", name)
		}
	}
	got, err := chromedp.Call(b.ctx, cdppage.GetInstallabilityErrors, cdp.Empty{})
	if err != nil || len(got.InstallabilityErrors) > 0 {
		t.Errorf("%v %v", err, got.InstallabilityErrors)
	}
}
