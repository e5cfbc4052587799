package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
)

// tab is a tab of a browser with the form of the census in the static page.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns what the body of a JavaScript function returns.
func (b *tab) eval(body string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`(async () => { `+body+` })()`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", body, err)
	}
	return text
}

// publishedAt is the folder with the static page, see built. TestMain removes it.
var publishedAt string

var publish = sync.OnceValue(func() error {
	out, err := exec.Command("go", "run", "./build", "-o", publishedAt).CombinedOutput()
	if err != nil {
		return fmt.Errorf("site/build: %w\n%s", err, out)
	}
	return nil
})

// built returns a folder with the static page, which is built once.
func built(t *testing.T) string {
	t.Helper()
	testenv.Long(t, "builds the static page")
	testenv.NoError(t, publish())
	return publishedAt
}

func TestMain(m *testing.M) {
	var err error
	if publishedAt, err = os.MkdirTemp("", "oid-site-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(publishedAt)
	os.Exit(code)
}

// newTab starts a browser and a web server for the static page.
func newTab(t *testing.T, options ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	ctx := testenv.Chromium(t, options...)
	folder := built(t)
	server := httptest.NewServer(http.StripPrefix("/a/b/", http.FileServer(http.Dir(folder))))
	t.Cleanup(server.Close)
	return &tab{t, ctx, server.URL + "/a/b/"}
}

// open loads the page again, with the empty form of a census.
func (b *tab) open() {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+"#census"), chromedp.WaitVisible("#file"))
	b.eval(`globalThis.blobs = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blobs.push(blob); return make(blob); }; return ''`)
}

// take chooses files, or a folder, and waits for the outcome.
func (b *tab) take(input string, paths ...string) {
	b.t.Helper()
	b.eval(`globalThis.chosen = false; $('form').addEventListener('change', () => { chosen = true; }, { once: true }); return ''`)
	b.do(chromedp.SetUploadFiles("#"+input, paths))
	b.await(`chosen`) // the browser reads a folder some time later
	b.do(chromedp.Click("form [type=submit]"))
	b.await(`$('.report') || $('#trouble:not([hidden])')`)
}

func (b *tab) await(condition string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); b.eval(`return String(!!(`+condition+`))`) != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("%s: not within a minute; the page says %q", condition, b.eval(`return document.body.innerText`))
		}
	}
}

// censusInputs are the files and folders of TestCensusInBrowser, below a folder.
func censusInputs(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	bson := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString("\x16\x00\x00\x00\x07_id\x00")
			b.Write([]byte{0x65, 0xf0, 0xa0, byte(i >> 6), 0xa1, 0xb2, 0xc3, 0xd4, 0xe5, byte(i >> 16), byte(i >> 8), byte(i)})
			b.WriteByte(0)
		}
		return b.String()
	}
	zipped := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(text))
		if err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	lines := strings.Repeat(`{"_id":1,"customer":{"_id":{"$oid":"65f0a0d0a1b2c3d4e5000001"}}}`+"\n", 3)
	for name, text := range map[string]string{
		"orders.bson": bson(0, 5000), "two.bson.gz": zipped(bson(0, 3000)) + zipped(bson(3000, 6000)), "cut.bson.gz": zipped(bson(0, 60000))[:20000],
		"list": "65f0a0d0a1b2c3d4e5000001\n65f0a0d1a1b2c3d4e5000002\nzz\n", "users.csv": "_id,name\n65f0a0d0a1b2c3d4e5000001,x\n", "customers.json": lines,
		"app.log": "GET /65f0a0d0a1b2c3d4e5000001 200\n", "nothing.json": "", "photo.png": "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\x01\x02\xff", 100), "bad.7z": "7z\xbc\xaf\x27\x1c....",
		"<img src=x onerror=alert(1)>.json": `{"_id":{"$oid":"65f0a0d0a1b2c3d4e5000001"},"x":"<script>"}`, "damaged.bson": bson(0, 3) + "\x16\x00\x00\x00\x07_i",
		"dump/shop/orders.bson": bson(0, 700), "dump/shop/orders.metadata.json": `{"collectionName":"orders"}`, "dump/shop/prelude.json": "{}", "dump/shop-2/a%2Fb.bson.gz": zipped(bson(0, 30)),
		"dump/shop/cut%24x.bson": bson(0, 3), "dump/shop/cut%24x.metadata.json": `{"collectionName":"the.whole.name"}`, "dump/notes.txt": "65f0a0d0a1b2c3d4e5000001", "dump/.git/x": "65f0a0d0a1b2c3d4e5000001",
		"server/data/_mdb_catalog.wt": "\x41\xd8\x01\x00\x01\x00\x00\x00\xd8\x08\x23\xb7", "server/data/WiredTiger": "WiredTiger 3.2.1", "server/orders.json": `{"_id":{"$oid":"65f0a0d0a1b2c3d4e5000001"}}`, "bare/.hidden": "x",
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pack := func(name string, args ...string) {
		cmd := exec.Command(testenv.Program(t, name, name), args...)
		cmd.Dir = folder
		testenv.Run(t, cmd)
	}
	pack("tar", "-czf", "dump.tar.gz", "dump")
	pack("zip", "-qr", "dump.zip", "dump")
	pack("zip", "-q", "-P", "secret", "locked.zip", "orders.bson")
	pack("xz", "-k", "orders.bson")
	pack("zstd", "-q", "orders.bson")
	pack("lz4", "-q", "orders.bson", "orders.bson.lz4")
	return folder
}

// TestCensusInBrowser takes a census of the same files in the static page and with the command.
// Their reports are equal but for the reference time. Where the command has no ids, the page says
// the same as the command.
func TestCensusInBrowser(t *testing.T) {
	testenv.WithoutRace(t)
	folder := censusInputs(t)
	command := filepath.Join(t.TempDir(), "oid")
	testenv.Run(t, exec.Command("go", "build", "-o", command, "../cmd/oid"))
	b := newTab(t)
	for _, c := range []struct {
		input string // of the form
		flags []string
		paths []string
	}{
		{"file", nil, []string{"orders.bson"}},
		{"file", nil, []string{"two.bson.gz"}},
		{"file", nil, []string{"cut.bson.gz"}},
		{"file", nil, []string{"damaged.bson"}},
		{"file", nil, []string{"dump.tar.gz"}},
		{"file", nil, []string{"dump.zip"}},
		{"file", nil, []string{"locked.zip"}},
		{"file", nil, []string{"orders.bson.lz4", "orders.bson.xz", "orders.bson.zst"}},
		{"file", nil, []string{"list"}},
		{"file", nil, []string{"users.csv"}},
		{"file", nil, []string{"customers.json"}},
		{"file", []string{"--field", "customer._id"}, []string{"customers.json"}},
		{"file", []string{"--tz", "Asia/Shanghai"}, []string{"orders.bson"}},
		{"file", []string{"--grep"}, []string{"app.log"}},
		{"file", nil, []string{"app.log"}},
		{"file", nil, []string{"nothing.json"}},
		{"file", nil, []string{"photo.png"}},
		{"file", nil, []string{"bad.7z"}},
		{"file", nil, []string{"list", "orders.bson", "users.csv"}},
		{"file", nil, []string{"bad.7z", "list", "photo.png"}},
		{"file", nil, []string{"<img src=x onerror=alert(1)>.json"}},
		{"folder", nil, []string{"dump"}},
		{"folder", []string{"--grep"}, []string{"dump"}},
		{"folder", nil, []string{"server"}},
		{"folder", nil, []string{"bare"}},
	} {
		t.Run(strings.Join(append(c.flags, c.paths...), " "), func(t *testing.T) {
			b.t = t
			cmd := exec.Command(command, append(append([]string{"census", "--html", "-", "-q"}, c.flags...), c.paths...)...)
			cmd.Dir, cmd.Env = folder, append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
			var said strings.Builder
			cmd.Stderr = &said
			out, _ := cmd.Output()
			b.open()
			for i := 0; i < len(c.flags); i += 2 {
				if c.flags[i] == "--grep" {
					b.do(chromedp.Click("#grep"))
				} else {
					b.do(chromedp.SetValue("#"+strings.TrimPrefix(c.flags[i], "--"), c.flags[i+1]))
				}
			}
			var paths []string
			for _, name := range c.paths {
				paths = append(paths, filepath.Join(folder, name))
			}
			b.take(c.input, paths...)
			reports := b.eval(`for (const blob of blobs) if (blob.type === 'text/html') return await blob.text(); return ''`)
			if reports == "" {
				problem := strings.SplitSeq(b.eval(`return $('#trouble').textContent`), "\n")
				for line := range problem {
					if strings.HasPrefix(line, "In this form, --grep is") {
						line = ": write --"
					}
					if !strings.Contains(said.String(), line) {
						t.Errorf("the page says %q, the command %q", line, &said)
					}
				}
				if len(out) > 0 && !bytes.Contains(out, []byte("Census of 0 ids")) {
					t.Errorf("the page has no report, the command: %s", out)
				}
				return
			}
			plain := func(s string) string {
				return regexp.MustCompile(`Reference time [-0-9]+ [:0-9]+`).ReplaceAllString(s, "")
			}
			if len(out) > 0 && plain(reports) != plain(string(out)) {
				t.Errorf("the page:\n%s\nthe command:\n%s", reports, out)
			}
		})
	}
}

// TestCensusIsNotSent takes a census and then reads the browser's own log of its network, which has
// the requests of the page, of the Worker and of the service worker. They are only for files of the
// page, and none has a body.
func TestCensusIsNotSent(t *testing.T) {
	testenv.WithoutRace(t)
	log := filepath.Join(t.TempDir(), "net.json")
	url := ""
	t.Run("browser", func(t *testing.T) { // it writes its log to the end
		b := newTab(t, chromedp.Flag("log-net-log", log))
		url = b.url
		b.open()
		b.eval(`globalThis.refused = []; addEventListener('securitypolicyviolation', (e) => refused.push(e.violatedDirective + ' ' + e.blockedURI));
			await navigator.serviceWorker.ready; return ''`)
		b.take("folder", filepath.Join(censusInputs(t), "dump"))
		b.do(chromedp.Click(`[data-part=page]`))
		if refused := b.eval(`return refused.join()`); refused != "" {
			t.Errorf("the Content-Security-Policy refused %s", refused)
		}
	})
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	head, events, _ := bytes.Cut(data, []byte(",\n\"events\": [\n"))
	var net struct {
		Constants struct{ LogEventTypes map[string]int }
	}
	if err := json.Unmarshal(append(head, '}'), &net); err != nil {
		t.Fatalf("the log of the network: %v", err)
	}
	file := ""
	for line := range bytes.Lines(events) {
		var e struct {
			Type   int
			Params struct {
				URL, Method, Address string
				Body                 string `json:"upload_id"`
			}
		}
		if json.Unmarshal(bytes.TrimSuffix(line, []byte(",\n")), &e) != nil {
			continue // the end of the log
		}
		switch p := e.Params; {
		case e.Type == net.Constants.LogEventTypes["TCP_CONNECT_ATTEMPT"] && p.Address != "" && !strings.HasPrefix(url, "http://"+p.Address+"/"):
			t.Errorf("a connection to %s", p.Address)
		case e.Type == net.Constants.LogEventTypes["URL_REQUEST_START_JOB"] && p.URL != "":
			name, isOwn := strings.CutPrefix(strings.TrimSuffix(p.URL, "#census"), url)
			if _, err := os.Stat(filepath.Join(publishedAt, name)); !isOwn || err != nil || p.Method != http.MethodGet || p.Body != "" {
				t.Errorf("a request %s %s, body %q", p.Method, p.URL, p.Body)
			}
			t.Logf("%s %s", p.Method, p.URL)
			file = name
		}
	}
	if file != "census.wasm.gz" {
		t.Errorf("the last request was for %q, want the program of the census", file)
	}
}

// TestWorkerIsConfined holds that the Content-Security-Policy of the page binds the Worker, although
// the web server sends no header: a Worker that wants to send something elsewhere cannot.
func TestWorkerIsConfined(t *testing.T) {
	testenv.WithoutRace(t)
	var sent atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
	defer other.Close()
	b := newTab(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path == "/worker.js" {
			whole := testenv.Must(os.ReadFile(filepath.Join(publishedAt, "worker.js")))(t)
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, `fetch('%[1]s', {mode: 'no-cors', method: 'POST', body: 'ids'}).catch(() => {}); try { importScripts('%[1]s') } catch {}; try { new WebSocket('%[1]s') } catch {}; %[2]s`, other.URL, whole)
			return
		}
		http.FileServer(http.Dir(publishedAt)).ServeHTTP(w, r)
	}))
	defer server.Close()
	b.url = server.URL + "/"
	b.open()
	b.take("file", filepath.Join(censusInputs(t), "list"))
	if text := b.eval(`return $('.report h1')?.textContent`); text != "Census of 2 ids" || sent.Load() > 0 {
		t.Errorf("%q; the Worker sent %d requests elsewhere", text, sent.Load())
	}
}

// TestCensusIsCancelled cancels a census of a file that does not end soon, and takes another.
func TestCensusIsCancelled(t *testing.T) {
	testenv.WithoutRace(t)
	folder := censusInputs(t)
	large := filepath.Join(folder, "large.log")
	f, err := os.Create(large)
	if err == nil {
		_, err = f.WriteString(strings.Repeat("GET /65f0a0d0a1b2c3d4e5000001 200\n", 10000))
	}
	if err == nil {
		err = f.Truncate(64 << 30) // sparse
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.open()
	b.eval(`globalThis.gap = 0; let last = performance.now(); setInterval(() => { const now = performance.now(); gap = Math.max(gap, now - last); last = now; }, 5); return ''`)
	b.do(chromedp.Click("#grep"), chromedp.SetUploadFiles("#file", []string{large}), chromedp.Click("form [type=submit]"))
	b.await(`/large.log: [1-9]?[0-9] % of 68.7 GB/.test($('.progress span').textContent)`)
	if text := b.eval(`return $('.progress').innerText`); !strings.Contains(text, "Nothing is uploaded.") {
		t.Errorf("while it works, the page says %q", text)
	}
	b.do(chromedp.Click(".progress button"))
	if text := b.eval(`return [$('.progress').hidden, document.activeElement.id, $('#trouble')?.checkVisibility(), $('#trouble')?.textContent].join()`); text != "true,file,false," && text != "true,file,," {
		t.Errorf("after Cancel: %s", text)
	}
	b.do(chromedp.Click("#grep"))
	b.take("file", filepath.Join(folder, "customers.json"))
	b.do(chromedp.Click(`[data-again="customer._id"]`))
	b.await(`$('.report h1')?.textContent === 'Census of 3 ids'`)
	b.do(chromedp.Click(".back a"))
	if field := b.eval(`return $('#field').value`); field != "customer._id" {
		t.Errorf("the form has lost what was typed: field %q", field)
	}
	t.Logf("the longest time in which the page did not answer: %s ms", b.eval(`return String(gap)`))
}

// TestCensusOfChangedFile holds that the page names the file that it cannot read because it was
// deleted or changed after it was chosen, or while it is read. What was read before counts.
func TestCensusOfChangedFile(t *testing.T) {
	testenv.WithoutRace(t)
	b := newTab(t)
	for _, c := range []struct {
		name, want string
		whileRead  bool
		change     func(file string) error
	}{
		{"deleted", "it's.log: the browser cannot read the file (NotFoundError)", false, os.Remove},
		{"cut off", "it's.log: the browser cannot read the file (NotReadableError)", false, func(file string) error { return os.Truncate(file, 1<<20) }},
		{"a folder now", "it's.log: the browser cannot read the file (Not", false, func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }},
		{"deleted while it is read", "Census of 10,000 ids", true, os.Remove},
		{"grown while it is read", "Census of 10,000 ids", true, func(file string) error { return os.Truncate(file, 65<<30) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "it's.log")
			if err := os.WriteFile(file, bytes.Repeat([]byte("GET /65f0a0d0a1b2c3d4e5000001 200\n"), 10_000), 0o600); err != nil {
				t.Fatal(err)
			}
			old := time.Now().Add(-time.Hour)                                                          // the browser compares seconds
			if err := errors.Join(os.Truncate(file, 64<<30), os.Chtimes(file, old, old)); err != nil { // sparse
				t.Fatal(err)
			}
			b.open()
			b.do(chromedp.Click("#grep"), chromedp.SetUploadFiles("#file", []string{file}))
			if c.whileRead {
				b.do(chromedp.Click("form [type=submit]"))
				b.await(`/it's.log: [1-9]?[0-9] % of 68.7 GB/.test($('.progress span').textContent)`)
			}
			if err := c.change(file); err != nil {
				t.Fatal(err)
			}
			if !c.whileRead {
				b.do(chromedp.Click("form [type=submit]"))
			}
			b.await(`$('.report') || $('#trouble:not([hidden])')`)
			text := b.eval(`return $('main').innerText`)
			if !strings.Contains(text, c.want) || !strings.Contains(text, "the browser cannot read the file (Not") || !strings.Contains(text, "if it was changed, moved or deleted after it was chosen, choose it again") {
				t.Errorf("the page says %.2000q, want %q", text, c.want)
			}
		})
	}
}

// TestCensusOfDropped drops a folder, an empty folder and a file at once.
func TestCensusOfDropped(t *testing.T) {
	testenv.WithoutRace(t)
	folder := censusInputs(t)
	if err := os.Mkdir(filepath.Join(folder, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.open()
	at := testenv.Must(strconv.ParseFloat(b.eval(`const box = $('.drop').getBoundingClientRect(); return String(box.top + 5)`), 64))(t)
	data := &input.DragData{Items: []*input.DragDataItem{}, DragOperationsMask: 1}
	for _, name := range []string{"dump", "empty", "list"} {
		data.Files = append(data.Files, filepath.Join(folder, name))
	}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		if _, err := chromedp.Call(b.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: 200, Y: at, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	b.await(`$('.report') || $('#trouble:not([hidden])')`)
	text := b.eval(`return $('main').innerText`)
	for _, want := range []string{"Census of 736 ids", "6 sources", "the folder empty has no files to read", "dump/shop/orders.bson shop.orders: bson, 700 documents"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q: %s", want, text)
		}
	}
}

// TestCensusDies holds that the page says what happened when the Worker cannot start, or ends
// without an answer.
func TestCensusDies(t *testing.T) {
	testenv.WithoutRace(t)
	file := filepath.Join(censusInputs(t), "list")
	program := func(source string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(source))
		_ = w.Close()
		return b.Bytes()
	}
	b, files := newTab(t), http.FileServer(http.Dir(publishedAt))
	for _, c := range []struct {
		name, path string
		answer     func(w http.ResponseWriter, whole []byte)
		want       string
	}{
		{"no program", "census.wasm.gz", func(w http.ResponseWriter, _ []byte) { http.Error(w, "gone", http.StatusNotFound) }, "census.wasm.gz: the server answers with status 404"},
		{"a page in its place", "census.wasm.gz", func(w http.ResponseWriter, _ []byte) { fmt.Fprint(w, "<!doctype html><p>hello") }, "census.wasm.gz: the server answers with something else"},
		{"half of it", "census.wasm.gz", func(w http.ResponseWriter, whole []byte) { _, _ = w.Write(whole[:len(whole)/2]) }, ": census.wasm.gz: "},
		{"lost on the way", "census.wasm.gz", func(w http.ResponseWriter, whole []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
			_, _ = w.Write(whole[:len(whole)/2])
		}, "Network error"},
		{"no WebAssembly", "census.wasm.gz", func(w http.ResponseWriter, _ []byte) { _, _ = w.Write(program("hello")) }, "WebAssembly"},
		{"empty", "census.wasm.gz", func(http.ResponseWriter, []byte) {}, "something else"},
		{"no script", "worker.js", func(w http.ResponseWriter, _ []byte) { http.Error(w, "gone", http.StatusNotFound) }, "worker.js"},
		{"no script of Go", "wasm_exec.js", func(w http.ResponseWriter, _ []byte) { http.Error(w, "gone", http.StatusNotFound) }, "wasm_exec.js"},
		{"out of memory", "worker.js", func(w http.ResponseWriter, whole []byte) {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(append(whole, []byte(`; oidRead = () => { fs.writeSync(2, new TextEncoder().encode('runtime: out of memory: cannot allocate\n')); throw new Error('x'); };`)...))
		}, "the browser has no more memory for it"},
		{"a dead program", "worker.js", func(w http.ResponseWriter, whole []byte) {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(append(whole, []byte(`; oidRead = () => 5;`)...))
		}, "panic"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			var broken atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if broken.Load() && r.URL.Path == "/"+c.path {
					whole, _ := os.ReadFile(filepath.Join(publishedAt, c.path))
					c.answer(w, whole)
					return
				}
				w.Header().Set("Cache-Control", "no-store")
				files.ServeHTTP(w, r)
			}))
			defer server.Close()
			b.url = server.URL + "/"
			b.open()
			broken.Store(true)
			b.take("file", file)
			text := b.eval(`return $('#trouble')?.textContent ?? ''`)
			if !strings.HasPrefix(text, "The census stopped") || !strings.Contains(text, c.want) || !strings.HasSuffix(text, " Try again, or type in a shell: oid census list") {
				t.Errorf("the page says %q, want %q", text, c.want)
			}
			broken.Store(false)
			b.do(chromedp.Click("form [type=submit]"))
			b.await(`$('.report h1')?.textContent === 'Census of 2 ids'`)
		})
	}
}
