package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/testenv"
)

// withDocuments returns the documents and the files that they load.
func withDocuments(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for name, asset := range page.Assets() {
		files[name] = bytes.TrimPrefix(asset.Data, page.Assets()["clock.js"].Data)
	}
	files["clock.js"] = page.Assets()["clock.js"].Data
	files["docs.css"] = testenv.Must(os.ReadFile("../static/docs.css"))(t)
	files["index.html"], files["zh/index.html"] = []byte("the static page"), []byte("the static page")
	if err := documents("../..", files); err != nil {
		t.Fatal(err)
	}
	return files
}

// attribute is an attribute that names or leads to something. In text, quotes are escaped.
var attribute = regexp.MustCompile(` (id|href|src|data-copy)="([^"]*)"`)

// attributes returns the values of attributes with one of these names.
func attributes(data []byte, names ...string) (values []string) {
	for _, m := range attribute.FindAllStringSubmatch(string(data), -1) {
		if slices.Contains(names, m[1]) {
			values = append(values, html.UnescapeString(m[2]))
		}
	}
	return values
}

// checkLinks looks for each file and heading to which a page of the folder leads. A fragment
// of the static page names a view.
func checkLinks(t *testing.T, files map[string][]byte) (checked int) {
	t.Helper()
	anchors := map[string][]string{}
	for name, data := range files {
		if path.Ext(name) == ".html" {
			anchors[name] = attributes(data, "id")
			if unique := slices.Compact(slices.Sorted(slices.Values(anchors[name]))); len(unique) != len(anchors[name]) {
				t.Errorf("%s: an id stands twice in %q", name, anchors[name])
			}
		}
	}
	for name, data := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, text := range attributes(data, "href", "src") {
			u, err := url.Parse(text)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checked++
			if file, is := strings.CutPrefix(text, repository); is {
				file, _, _ = strings.Cut(file, "#")
				if _, err := os.Stat(filepath.Join("../..", file)); err != nil || file == "" {
					t.Errorf("%s: no file of the repository: %s", name, text)
				}
				continue
			}
			if u.Scheme != "" {
				continue
			}
			to := path.Join(path.Dir(name), u.Path)
			if u.Path == "" {
				to = name
			} else if strings.HasSuffix(u.Path, "/") {
				to = path.Join(to, "index.html")
			}
			switch {
			case strings.HasPrefix(u.Path, "/"), files[to] == nil:
				t.Errorf("%s: no file for %s", name, text)
			case u.Fragment != "" && path.Base(path.Dir("/"+to)) != "zh" && to != "index.html" && !slices.Contains(anchors[to], u.Fragment):
				t.Errorf("%s: no heading for %s", name, text)
			}
		}
	}
	return checked
}

// Each document is a page, and each link of the pages leads to a page, a heading of it, or a
// file of the repository.
func TestLinksOfDocuments(t *testing.T) {
	files := withDocuments(t)
	if n := checkLinks(t, files); n < 4000 {
		t.Errorf("only %d links", n)
	}
	err := filepath.WalkDir("../../docs", func(name string, _ fs.DirEntry, err error) error {
		name = strings.TrimPrefix(filepath.ToSlash(name), "../../")
		if path.Ext(name) == ".md" && files[published(name)] == nil {
			t.Errorf("%s is not published", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(files["docs/index.html"]), `href="how-to/ids-in-sql.html#gorm"`) || files["docs/terminal.svg"] == nil {
		t.Error("a link has lost its heading, or a picture is missing")
	}
	for name, data := range files {
		text := string(data)
		if path.Ext(name) == ".md" {
			t.Errorf("%s is published", name)
		}
		if path.Ext(name) != ".html" || strings.HasSuffix(text, "the static page") {
			continue
		}
		for _, wrong := range []string{"<!--", "```", "](", " style=", "raw HTML", "<script>"} {
			if shown := regexp.MustCompile(`(?s)<code.*?</code>|data-copy="[^"]*"`).ReplaceAllString(text, ""); strings.Contains(shown, wrong) {
				t.Errorf("%s contains %s", name, wrong)
			}
		}
		for _, missing := range []string{"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'\"", ` aria-current="page"`} {
			if !strings.Contains(strings.ReplaceAll(text, "&#39;", "'"), missing) && name != "docs/index.html" && strings.Contains(string(files["docs/index.html"]), `href="`+strings.TrimPrefix(name, "docs/")+`"`) {
				t.Errorf("%s has no %s", name, missing)
			}
		}
		if pictures := regexp.MustCompile(`<img src="https?:`).FindString(text); pictures != "" {
			t.Errorf("%s loads a picture from elsewhere", name)
		}
		if strings.Count(text, "<h1") != 1 || strings.Contains(text, "<title> ·") {
			t.Errorf("%s has another number of titles than one", name)
		}
		if chinese := strings.Contains(name, "zh-CN"); strings.Contains(text, `<html lang="zh-CN"`) != chinese || strings.Contains(text, "Diagnose E11000</a>, <a") == chinese {
			t.Errorf("%s has the links or the language of others beside it", name)
		}
	}
}

// The names of headings are those that links to the repository on GitHub have.
func TestNamesOfHeadings(t *testing.T) {
	for title, want := range map[string]string{
		"Deploying `oid serve`":               "deploying-oid-serve",
		"`_id` and \\_id":                     "_id-and-_id",
		"C++ & Go: 2 < 3?":                    "c--go-2--3",
		"Ids, *ranges* and [links](x.md#a-b)": "ids-ranges-and-links",
		"三台机器，一个定时任务":                         "三台机器一个定时任务",
		"Größe – in MB":                       "größe--in-mb",
		"हिन्दी id":                           "हिन्दी-id",
		"a  b":                                "a--b",
	} {
		d := renderer{}
		text := anchored(d.render("x.html", "x.md", []byte("# "+title+"\n\n## "+title+"\n")))
		if ids := attributes([]byte(text), "id"); !slices.Equal(ids, []string{want, want + "-1"}) {
			t.Errorf("%s: %q, want %q", title, ids, want)
		}
	}
}

// What the button of a block of code copies: all of it, or the commands of a session.
func TestCopiedCode(t *testing.T) {
	for source, want := range map[string]string{
		"```sh\necho \"a\" <b\n# c\n```":                             "echo \"a\" <b\n# c",
		"```console\n$ oid new\n65\n$ oid x | sed '$ d'\ny $ z\n```": "oid new\noid x | sed '$ d'",
		"```sql\nSELECT '$1';\n```":                                  "SELECT '$1';",
	} {
		d := renderer{}
		if got := attributes([]byte(d.render("x.html", "x.md", []byte(source))), "data-copy"); !slices.Equal(got, []string{want}) {
			t.Errorf("%s copies %q, want %q", source, got, want)
		}
	}
}

// The text below the converter leads to the documents in the folder, or to those on GitHub.
func TestLanding(t *testing.T) {
	files := withDocuments(t)
	for _, l := range languages {
		for _, docs := range []bool{true, false} {
			var b bytes.Buffer
			if err := landing(l, docs).Render(&b); err != nil {
				t.Fatal(err)
			}
			all := maps.Clone(files)
			all[l.folder+"index.html"] = b.Bytes()
			checkLinks(t, all)
			if beside := strings.Contains(b.String(), `docs/index.html"`) || strings.Contains(b.String(), `docs/zh-CN/`) && !strings.Contains(b.String(), repository+"docs"); beside != docs {
				t.Errorf("%q: with documents %v, but the links lead beside it: %v", l.html, docs, beside)
			}
		}
	}
}

// watchConsole fails the test for what the console of the browser shows.
func watchConsole(ctx context.Context, t *testing.T) {
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			if text := m.String(); !strings.HasPrefix(text, "info: Autofocus") && // somebody was faster than the page
				!strings.Contains(text, "An SSL certificate error") { // no service worker below a certificate of tests
				t.Errorf("the console says %s", text)
			}
		}
	}()
}

// The folder that is published works behind nginx with the configuration of the document on the
// static page, below a path: every link of it leads to something, and the views, a census and
// the documents show no error and ask for nothing elsewhere.
func TestFolderBelowAnyPath(t *testing.T) {
	testenv.Long(t, "builds the folder")
	b := tab{t, testenv.Chromium(t)}
	root := t.TempDir()
	if out, err := exec.Command("make", "-C", "../..", "pages", "SITE="+root+"/ids").CombinedOutput(); err != nil {
		t.Fatalf("make pages: %v\n%s", err, out)
	}
	if out, err := exec.Command("make", "-n", "-C", "../..", "site", "SITE=/var/www/html/ids").CombinedOutput(); err != nil || !strings.Contains(string(out), `go run ./site/build -o "/var/www/html/ids"`+"\n") {
		t.Errorf("make site: %s, %v", out, err)
	}
	port := testenv.FreePort(t)
	base := fmt.Sprintf("https://localhost:%d/ids/", port)
	testenv.Nginx(t, port, testenv.DocBlock(t, "../../docs/how-to/static-page.md", "nginx", 0, "/var/www/html", root), "include /etc/nginx/mime.types;")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(root+"/ids"), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		reply, err := client.Get(base + name)
		if err != nil {
			return err
		}
		defer reply.Body.Close()
		if files[name], err = io.ReadAll(reply.Body); reply.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", name, reply.StatusCode)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checkLinks(t, files)

	watchConsole(b.ctx, t)
	b.do() // starts the tab
	if _, err := chromedp.Call(b.ctx, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true}); err != nil {
		t.Fatal(err)
	}
	own := func() {
		t.Helper()
		if names := b.eval(`performance.getEntriesByType('resource').map((e) => e.name).filter((name) => !name.startsWith('` + base + `') && !name.startsWith('blob:'))`); names != "" {
			t.Errorf("requests elsewhere: %s", names)
		}
	}
	const main = `document.querySelector('main').innerText`
	b.do(chromedp.Navigate(base + "#id=507f1f77bcf86cd799439011"))
	b.await(main, "2012-10-17 21:13:27")
	for fragment, want := range map[string]string{"#range=2026-11-01/2026-12-01": "6ae681000000000000000000", "#odds=1000&rate=100": "1 in ", "#id=1351716000": "2012-10-31"} {
		b.eval(`location.hash = '` + fragment + `'`)
		b.await(main, want)
	}
	b.eval(`location.hash = '#census'`)
	b.await(main, "Census of a collection")
	dump := filepath.Join(t.TempDir(), "orders.json")
	if err := os.WriteFile(dump, []byte(`{"_id":{"$oid":"507f1f77bcf86cd799439011"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.SetUploadFiles("#file", []string{dump}), chromedp.Click("[data-upload] [type=submit]"))
	b.await(main, "1 ObjectId")
	own()
	b.eval(`[...document.querySelectorAll('header nav a')].find((e) => e.textContent === 'Docs').click()`)
	b.await(main, "Find documents by time without a field")
	b.eval(`document.querySelector('.brand').click()`)
	b.await(main, "one from 2012")
	own()
	b.do(chromedp.Evaluate[chromedp.Void](testenv.Axe(t)))
	if faults := b.eval("await " + axeFaults); faults != "" || b.eval(`document.querySelector('.landing').checkVisibility()`) != "true" {
		t.Errorf("below the converter: %s", faults)
	}
}

// axeFaults is an expression for what axe finds on a page.
const axeFaults = `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes[0].html).join('\n'))`

// The documents as a reader sees them, below a path, in light and dark, wide and narrow.
func TestDocumentsInABrowser(t *testing.T) {
	ctx := testenv.Chromium(t)
	axe := testenv.Axe(t)
	files := withDocuments(t)
	server := httptest.NewServer(http.StripPrefix("/a/b/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if files[r.URL.Path] == nil {
			t.Errorf("the page asks for %s", r.URL)
		}
		http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(files[r.URL.Path]))
	})))
	defer server.Close()
	watchConsole(ctx, t)
	for _, name := range []string{"docs/how-to/census-of-a-dump.html", "docs/zh-CN/findings.html", "docs/index.html"} {
		for _, scheme := range []string{"light", "dark"} {
			media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
				t.Fatal(err)
			}
			for _, width := range []int64{1440, 360} {
				err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate(server.URL+"/a/b/"+name), chromedp.Evaluate[chromedp.Void](axe))
				if err != nil {
					t.Fatal(err)
				}
				faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](axeFaults, chromedp.EvalAwaitPromise))
				if err != nil || faults != "" {
					t.Errorf("%s, %d pixels, %s: %s, %v", name, width, scheme, faults, err)
				}
				if over, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); err != nil || over > 0 {
					t.Errorf("%s is %d pixels wider than %d, %v", name, over, width, err)
				}
				if folder := os.Getenv("OID_SCREENSHOTS"); folder != "" {
					picture := testenv.Must(chromedp.Run(ctx, chromedp.FullScreenshot(100)))(t)
					file := fmt.Sprintf("%s-%d-%s.png", strings.ReplaceAll(name, "/", "-"), width, scheme)
					if err := os.WriteFile(filepath.Join(folder, file), picture, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	const code = `[...document.querySelectorAll('pre')].filter((e) => !e.previousElementSibling.querySelector('button')).length`
	const others = `performance.getEntriesByType('resource').filter((e) => !e.name.startsWith(location.origin + '/a/b/')).length`
	err := chromedp.Do(ctx, chromedp.Navigate(server.URL+"/a/b/docs/how-to/census-of-a-dump.html"))
	if n, err2 := chromedp.Run(ctx, chromedp.Evaluate[int](code+" + "+others)); n != 0 || cmp.Or(err, err2) != nil {
		t.Errorf("%d blocks of code without a button that copies, or requests elsewhere, %v, %v", n, err, err2)
	}
}
