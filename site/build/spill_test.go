package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
)

// The calls of a census in a browser: what it shows, the temporary files of the page, and a device
// on which no more than 65,536 ids fit into the memory of a census.
const (
	shown     = `document.querySelector('main .report, #trouble:not([hidden])')?.textContent`
	temporary = `(await Array.fromAsync((await navigator.storage.getDirectory()).keys())).sort().join()`
	small     = `Object.defineProperty(navigator, 'deviceMemory', { value: 0.1 })`
)

// listed writes a list of ids of some machines to a file.
func listed(t *testing.T, n, machines int) string {
	t.Helper()
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "5e4fa350b636%02x33a1%06x\n", i%machines, i)
	}
	file := filepath.Join(t.TempDir(), "ids.txt")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// take begins a census of a file.
func (b tab) take(file string) {
	b.Helper()
	b.do(chromedp.WaitVisible("#file"), chromedp.SetUploadFiles("#file", []string{file}), chromedp.Click("form[data-upload] button[type=submit]"))
}

// Ids that do not fit into memory go to a temporary file of the page. It is removed after the
// census and when the user cancels; a file that a dead tab left is removed when the page is loaded,
// but not the file of another tab, nor that of another page of the same origin.
func TestCensusSpills(t *testing.T) {
	s := serve(t)
	file := listed(t, 400_000, 40)
	b := open(t, s.URL+"/a/b/#census")
	b.eval(`navigator.storage.getDirectory().then((folder) => Promise.all(['oid-census-1', 'oid-zip-2', 'a draft'].map((name) => folder.getFileHandle(name, { create: true })))).then(() => '')`)
	b.eval(`new Promise((held) => navigator.locks.request('oid-zip-2', () => { held(); return new Promise((free) => { globalThis.free = free; }); }))`)
	other := openIn(t, b.ctx, s.URL+"/a/b/#census")
	other.await(`'[' + `+temporary+` + ']'`, "[a draft,oid-zip-2]")
	other.eval(small)
	other.take(file)
	other.await(temporary, "oid-census-")
	other.do(chromedp.Click(".progress button"))
	other.await(`'[' + `+temporary+` + ']'`, "[a draft,oid-zip-2]")
	b.eval(`free()`) // what waited for the lock removes the file
	other.await(`'[' + `+temporary+` + ']'`, "[a draft]")
	other.take(file)
	other.await(temporary, "oid-census-")
	other.await(shown, "400,000 lines, 400,000 ids")
	other.await(`'[' + `+temporary+` + ']'`, "[a draft]")
	spilled := other.eval(shown)
	b.take(file) // with much memory
	b.await(shown, "400,000 lines, 400,000 ids")
	// The reports differ only in their reference time.
	if part, _, _ := strings.Cut(b.eval(shown), "Reference time"); !strings.HasPrefix(spilled, part) {
		t.Errorf("in memory: %s\nspilled: %s", part, spilled)
	}
}

// Where there is no room on disk, or no disk, a sentence says so, and what to do.
func TestCensusWithoutRoom(t *testing.T) {
	s := serve(t)
	const advice = "; a page in a browser gets no more; type in a shell: oid census FILE"
	b := open(t, s.URL+"/a/b/#census")
	file := listed(t, 200_000, 40)
	for _, c := range []struct {
		quota      float64
		file, want string
	}{
		{1 << 30, listed(t, 1_200_000, 1), "after 1200000 documents, lines or rows: spill ids to disk: the ids of one machine do not fit into memory" + advice},
		{5_000_000, file, " documents, lines or rows: spill ids to disk: No space left on device" + advice},
		{100, file, "spill ids to disk: No space left on device" + advice}, // and what was read
	} {
		b.do(chromedp.Reload())
		b.eval(small)
		if _, err := chromedp.Call(b.ctx, storage.OverrideQuotaForOrigin, storage.OverrideQuotaForOriginParams{Origin: s.URL, QuotaSize: &c.quota}); err != nil {
			t.Fatal(err)
		}
		b.take(c.file)
		b.await(shown, c.want)
		b.await(`'[' + `+temporary+` + ']'`, "[]")
	}
	// This address means this computer, too, but for a browser it is not secure without TLS.
	b.do(chromedp.Navigate(strings.Replace(s.URL, "127.0.0.1", "0.0.0.0", 1) + "/a/b/#census"))
	b.await(`isSecureContext`, "false")
	b.eval(small)
	b.take(file)
	b.await(shown, "spill ids to disk: Operation not permitted"+advice)
}
