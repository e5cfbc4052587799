package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"
)

// TestParts holds which files of a folder are read, in which order, and as which collections.
// TestCensusInBrowser compares that with the command.
func TestParts(t *testing.T) {
	text := func(s string) func() io.Reader { return func() io.Reader { return strings.NewReader(s) } }
	var files []file
	for name, content := range map[string]string{
		"dump/shop/orders.bson": "", "dump/shop/orders.metadata.json": `{"collectionName":"orders"}`, "dump/shop/prelude.json.gz": "", "dump/shop-2/a%2Fb.bson.gz": "",
		"dump/shop/cut%24x.bson": "", "dump/shop/cut%24x.metadata.json": `{"collectionName":"the.whole.name"}`, "dump/notes.txt": "", "dump/.git/x": "", "dump/shop/.x": "",
		"dump/data/_mdb_catalog.wt": "the catalog", "dump/data/WiredTiger": "", "dump/data/journal/log": "", "b.json": "", ".hidden": "", "bare/.x": "",
	} {
		files = append(files, file{name, text(content)})
	}
	files = append(files, file{"dump/", nil}, file{"empty/", nil}, file{"dump/nothing/", nil})
	said := func(isText bool) (out []string) {
		for _, p := range parts(files, isText) {
			content, err := io.ReadAll(p.in)
			if err != nil {
				content = []byte("error: " + err.Error())
			}
			out = append(out, strings.TrimRight(p.name+" | "+p.collection+" | "+string(content), " |"))
		}
		return out
	}
	want := []string{
		".hidden", "b.json", "dump/data |  | the catalog", "dump/notes.txt | notes", "dump/shop/cut%24x.bson | shop.the.whole.name", "dump/shop/orders.bson | shop.orders",
		"dump/shop-2/a%2Fb.bson.gz | shop-2.a/b", "bare |  | error: the folder bare has no files to read", "empty |  | error: the folder empty has no files to read",
	}
	if got := said(false); !slices.Equal(got, want) {
		t.Errorf("documents:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := said(true); len(got) != len(want)+3 || got[3] != "dump/notes.txt" || !strings.HasPrefix(got[5], "dump/shop/cut%24x.metadata.json |  | {") {
		t.Errorf("text:\n%s", strings.Join(got, "\n"))
	}
}

// TestTakeSaysWhy holds that a census of nothing says why, and what to do.
func TestTakeSaysWhy(t *testing.T) {
	one := func(name, content string) []file {
		return []file{{name, func() io.Reader { return strings.NewReader(content) }}}
	}
	for name, c := range map[string]struct {
		job
		problem string // or
		html    string // a part
	}{
		"nothing":        {job{files: []file{{"dump/", nil}}}, "dump: the folder dump has no files to read", ""},
		"empty":          {job{files: one("orders", "")}, "orders: the source is empty", ""},
		"7z":             {job{files: one("it's.7z", "7z\xbc\xaf\x27\x1c....")}, `it's.7z: oid does not read this: it is 7z; type: bsdtar -cf - @'it'\''s.7z' | oid census`, ""},
		"cannot be read": {job{files: []file{{"a.bson", func() io.Reader { return failing{errors.New("it is gone")} }}}}, "a.bson: it is gone", ""},
		"another field":  {job{files: one("a.json", `{"_id":1,"customer":{"_id":{"$oid":"65f0a0d0a1b2c3d4e5000001"}}}`)}, "", `<button type="button" class="quiet" data-again="customer._id">customer._id</button>`},
		"that field":     {job{field: "customer._id", files: one("a.json", `{"_id":1,"customer":{"_id":{"$oid":"65f0a0d0a1b2c3d4e5000001"}}}`)}, "", `Census of 1 id`},
		"a bad zone":     {job{zone: "Europe/Atlantis", files: one("a", "65f0a0d0a1b2c3d4e5000001\n")}, `time zone "Europe/Atlantis": unknown; want a name such as Europe/Berlin`, ""},
		"text":           {job{isText: true, files: one("a.log", "GET /65f0a0d0a1b2c3d4e5000001 200")}, "", `download="census.svg"`},
		"no text":        {job{files: one("a.log", "GET /orders 200")}, "a.log: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := take(t.Context(), c.job)
			problem, _ := a["problem"].(string)
			html, _ := a["html"].(string)
			if (problem == "") == (html == "") || !strings.HasPrefix(problem, c.problem) || !strings.Contains(html, c.html) {
				t.Errorf("got %q, %s\nwant %q, %s", problem, html, c.problem, c.html)
			}
		})
	}
}

// TestFilesAreReleased holds that a census keeps no file after it was read, nor what unpacks it.
func TestFilesAreReleased(t *testing.T) {
	const n = 20
	var read []weak.Pointer[listed]
	var j job
	for i := range n {
		j.files = append(j.files, file{fmt.Sprintf("dump/%02d", i), func() io.Reader {
			l := &listed{Reader: strings.NewReader("65f0a0d0a1b2c3d4e5000001\n")}
			if i == n-1 {
				l.last = func() {
					for range 3 { // pools keep what they have for two
						runtime.GC()
					}
					for k, p := range read[:n-2] { // what reads may keep the one before
						if p.Value() != nil {
							t.Errorf("file %d of %d is in memory when the last is read", k, n)
						}
					}
				}
			}
			read = append(read, weak.Make(l))
			return l
		}})
	}
	if a := take(t.Context(), j); !strings.Contains(fmt.Sprint(a["html"]), "Census of 20 ids") {
		t.Errorf("got %v", a)
	}
}

type listed struct {
	io.Reader
	last func()
}

func (l *listed) Read(p []byte) (int, error) {
	if l.last != nil {
		l.last()
		l.last = nil
	}
	return l.Reader.Read(p)
}
