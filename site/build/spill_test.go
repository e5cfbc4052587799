package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
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
	file := filepath.Join(t.TempDir(), "the user's ids")
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

// If the disk is full, or the browser gives the page none, the page says so and what to do.
func TestCensusWithoutRoom(t *testing.T) {
	s := serve(t)
	const noRoom, command = "; a page in a browser gets no more; type in a shell: ", `oid census 'the user'\''s ids'`
	b := open(t, s.URL+"/a/b/#census")
	file := listed(t, 200_000, 40)
	for _, c := range []struct {
		quota      float64
		file, want string
	}{
		{1 << 30, listed(t, 1_200_000, 1), "after 1200000 documents, lines or rows: spill ids to disk: the ids of one machine do not fit into memory" + noRoom + command},
		{5_000_000, file, " documents, lines or rows: spill ids to disk: No space left on device" + noRoom},
		{100, file, "spill ids to disk: No space left on device" + noRoom}, // and what was read
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
	b.await(shown, "spill ids to disk: Operation not permitted"+noRoom)
}

// bounded returns a program whose memory cannot grow beyond some MiB, as where a browser has no more.
func bounded(t *testing.T, packed []byte, mib uint64) []byte {
	t.Helper()
	in, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	program := testenv.Must(io.ReadAll(in))(t)
	at := 8 // of the first section: https://webassembly.github.io/spec/core/binary/modules.html
	for {
		size, n := binary.Uvarint(program[at+1:])
		body, end := at+1+n, at+1+n+int(size)
		if program[at] != 5 {
			at = end
			continue
		}
		if !bytes.Equal(program[body:body+2], []byte{1, 0}) {
			t.Fatalf("the section of memories is % x", program[at:end])
		}
		limits := binary.AppendUvarint(append([]byte{1, 1}, program[body+2:end]...), mib<<20>>16)
		program = slices.Concat(program[:at], []byte{5, byte(len(limits))}, limits, program[end:])
		break
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(program); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Where a browser has no more memory, the page says so, how far the census came, and what to do.
func TestCensusWithoutMemory(t *testing.T) {
	s := serve(t)
	s.instead["sw.js"] = http.NotFound // nothing is kept
	whole := s.files["census.wasm.gz"]
	file := listed(t, 400_000, 40)
	b := open(t, s.URL+"/a/b/#census")
	for mib, want := range map[uint64]string{
		6:  "(census.wasm.gz: 100 % of 2.",
		16: "(the user's ids: 41 % of 10.0 MB)",
	} {
		s.set(func() { s.files["census.wasm.gz"] = bounded(t, whole, mib) })
		b.do(chromedp.Reload())
		b.take(file)
		b.await(shown, "The census stopped "+want)
		b.await(shown, `: the browser has no more memory for it. Try again, or type in a shell: oid census 'the user'\''s ids'`)
	}
	s.set(func() { s.files["census.wasm.gz"] = whole })
	b.do(chromedp.SetValue("#field", "order id"), chromedp.Click("form[data-upload] button[type=submit]"))
	b.await(shown, "400,000 lines, 400,000 ids")
}
