package source_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// sample are the documents of a small collection: four ids, and what else an _id
// can be.
func sample() []bson.D {
	id := func(n int) objectid.ID {
		id := objectid.MustParse("6592008029c8c3e4dc762500")
		id[11] = byte(n)
		return id
	}
	return []bson.D{
		{{Key: "_id", Value: id(1)}, {Key: "n", Value: 1}, {Key: "by", Value: bson.M{"user": id(9)}}},
		{{Key: "n", Value: "}\n\"_id\": {[\\"}, {Key: "_id", Value: id(2)}},
		{{Key: "_id", Value: "ac3"}},
		{{Key: "_id", Value: "6592008029c8c3e4dc762501"}},
		{{Key: "_id", Value: int32(7)}},
		{{Key: "_id", Value: int64(1) << 40}},
		{{Key: "_id", Value: 1.5}},
		{{Key: "_id", Value: true}},
		{{Key: "_id", Value: bson.D{{Key: "a", Value: id(8)}}}},
		{{Key: "_id", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}}},
		{{Key: "_id", Value: bson.NewDateTimeFromTime(time.Unix(1, 0))}},
		{{Key: "inner", Value: bson.D{{Key: "_id", Value: id(7)}}}, {Key: "_id", Value: id(3)}, {Key: "tags", Value: bson.A{id(5), "x", id(6)}}},
		{{Key: "no", Value: "id"}},
		{{Key: "lines", Value: bson.A{bson.D{{Key: "item", Value: id(10)}}, bson.D{{Key: "item", Value: id(11)}}}}, {Key: "_id", Value: id(4)}},
	}
}

// found is what a report says of a sample, in short.
func found(r *census.Report) string {
	var out []string
	out = append(out, fmt.Sprintf("%d ids", r.IDs))
	others := map[string]int64{}
	for _, o := range r.Others {
		others[o.Type] = o.Count
	}
	if len(others) > 0 {
		out = append(out, strings.TrimPrefix(fmt.Sprint(others), "map"))
	}
	out = append(out, fmt.Sprintf("without %d", r.Without))
	for _, s := range r.Sources {
		if s.Broken > 0 {
			out = append(out, fmt.Sprintf("broken %d", s.Broken))
		}
		if s.Error != "" {
			out = append(out, "error")
		}
	}
	return strings.Join(out, ", ")
}

const sampleFound = "4 ids, [bool:1 date:1 double:1 hex-string:1 int:1 long:1 object:1 string:1 uuid:1], without 1"

// forms are the ways to write the sample.
func forms(t testing.TB) map[string][]byte {
	t.Helper()
	var raw bytes.Buffer
	var lines, relaxed, old, pretty bytes.Buffer
	var array []string
	doc := func(v any) []byte {
		b, err := bson.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	archive := newArchive(t)
	archive.prelude("orders", "{}")
	archive.prelude("other", "{}")
	archive.WriteString(terminator)
	for i, d := range sample() {
		raw.Write(doc(d))
		if i%5 == 0 {
			archive.header("orders", false)
		}
		archive.body("orders", d)
		if i%5 == 4 || i == len(sample())-1 {
			archive.WriteString(terminator)
		}
		if i == 4 {
			archive.header("other", false)
			archive.body("other", bson.D{{Key: "_id", Value: objectid.MustParse("6592008029c8c3e4dc7625ff")}})
			archive.WriteString(terminator)
		}
		canonical, err := bson.MarshalExtJSON(d, true, false)
		if err != nil {
			t.Fatal(err)
		}
		short, err := bson.MarshalExtJSON(d, false, false)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(canonical, '\n'))
		relaxed.Write(append(short, '\r', '\n'))
		old.WriteString(strings.NewReplacer(`{"_id":{"$oid":"`, `{ "_id" : { "$oid" : "`, `"}`, `" }`).Replace(string(short)) + "\n")
		array = append(array, string(short))
		if err := json.Indent(&pretty, short, "", "\t"); err != nil {
			t.Fatal(err)
		}
		pretty.WriteByte('\n')
	}
	for _, name := range []string{"orders", "other"} {
		archive.header(name, true)
		archive.WriteString(terminator)
	}
	return map[string][]byte{
		"bson":           raw.Bytes(),
		"archive":        archive.Bytes(),
		"json canonical": lines.Bytes(),
		"json relaxed":   relaxed.Bytes(),
		"json spaced":    old.Bytes(),
		"json no end":    bytes.TrimRight(lines.Bytes(), "\n"),
		"json marked":    append([]byte("\ufeff"), lines.Bytes()...),
		"array":          []byte("[" + strings.Join(array, ",") + "]\n"),
		"array lines":    []byte("[\n" + strings.Join(array, ",\n") + "\n]"),
		"side by side":   []byte(strings.Join(array, "")),
		"pretty":         pretty.Bytes(),
	}
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func zstandard(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(data, nil)
}

// read counts one source and returns the report and Read's error.
func read(t testing.TB, in io.Reader, o *census.Options) (*census.Report, error) {
	t.Helper()
	c := census.New(o)
	err := c.Read(t.Context(), "source", in)
	r, reportErr := c.Report(nil)
	if reportErr != nil {
		t.Fatal(reportErr)
	}
	return r, err
}

func TestEveryFormat(t *testing.T) {
	for name, data := range forms(t) {
		want := sampleFound
		o := &census.Options{}
		if name == "archive" {
			o.Collection = "orders"
		}
		for how, in := range map[string]io.Reader{
			"at once":         bytes.NewReader(data),
			"byte by byte":    iotest.OneByteReader(bytes.NewReader(data)),
			"data with error": iotest.DataErrReader(bytes.NewReader(data)),
			"gzip":            bytes.NewReader(zipped(data)),
			"two gzips":       bytes.NewReader(append(zipped(data[:len(data)/2]), zipped(data[len(data)/2:])...)),
			"twice gzip":      bytes.NewReader(zipped(zipped(data))),
			"zstd":            bytes.NewReader(zstandard(data)),
			"two zstds":       bytes.NewReader(append(zstandard(data[:len(data)/2]), zstandard(data[len(data)/2:])...)),
			"gzip in zstd":    bytes.NewReader(zstandard(zipped(data))),
		} {
			r, err := read(t, in, o)
			if got := found(r); err != nil || got != want {
				t.Errorf("%s, %s: %s, %v, want %s", name, how, got, err, want)
			}
		}
	}
}

// TestFormats opens a source in each format, which is recognised, but for Grep.
func TestFormats(t *testing.T) {
	const id = "507f1f77bcf86cd799439011"
	all := forms(t)
	want := map[string]struct {
		data []byte
		unit string
	}{
		source.BSON: {all["bson"], "document"}, source.Archive: {all["archive"], "document"}, source.JSON: {all["pretty"], "document"},
		source.CSV: {[]byte("n,_id\n1," + id + "\n"), "row"}, source.List: {[]byte(id), "line"},
		source.Grep: {[]byte("order " + id + " failed"), "line"},
	}
	for _, format := range source.Formats() {
		w, ok := want[format]
		o := source.Options{}
		switch {
		case format == source.Auto:
			continue
		case format == source.Grep:
			o.Format = format
		case !ok:
			t.Errorf("no vector of the format %s: add a source and what its places count to this test", format)
			continue
		}
		in, err := source.Open(bytes.NewReader(w.data), o)
		if err != nil || in.Format != format || in.Unit != w.unit {
			t.Errorf("%s: %+v, %v, want places in a %s", format, in, err, w.unit)
			continue
		}
		n := 0
		err = in.Read(t.Context(), func(*source.Batch) {}, func(b *source.Batch) error { n += len(b.IDs); return nil })
		if err != nil || n == 0 {
			t.Errorf("%s: %d ids, %v", format, n, err)
		}
	}
}

func TestArchiveWithAllCollections(t *testing.T) {
	r, err := read(t, bytes.NewReader(forms(t)["archive"]), nil)
	if err != nil || r.IDs != 5 {
		t.Fatalf("%d ids, %v, want 5", r.IDs, err)
	}
	ids := map[string]int64{}
	for _, s := range r.Sources {
		ids[s.Collection] = s.IDs
	}
	if ids["shop.orders"] != 4 || ids["shop.other"] != 1 {
		t.Errorf("ids by collection: %v", ids)
	}
	// Positions count within the collection, whatever comes between its parts.
	for _, o := range r.Others {
		if o.Type == "double" && o.Examples[0].Position.String() != "source shop.orders: document 7" {
			t.Errorf("1.5 stands at %v", o.Examples[0].Position)
		}
	}
}

func TestFields(t *testing.T) {
	for name, data := range forms(t) {
		for field, want := range map[string]int64{
			"by.user": 1, "inner._id": 1, "tags": 2, "tags.0": 1, "tags.1": 0, "lines.item": 2, "lines.1.item": 1, "_id.a": 1, "nothing": 0,
		} {
			r, err := read(t, bytes.NewReader(data), &census.Options{Field: field, Collection: "orders"})
			if err != nil || r.IDs != want {
				t.Errorf("%s: field %s: %d ids, %v, want %d", name, field, r.IDs, err, want)
			}
			for _, f := range r.Findings {
				t.Errorf("%s: field %s: found %s in a reference", name, field, f.Kind)
			}
		}
	}
}

const (
	idA = "6592008029c8c3e4dc762501"
	idB = "6592008029c8c3e4dc762502"
)

func TestTexts(t *testing.T) {
	for _, test := range []struct {
		name, text string
		o          census.Options
		want       string
	}{
		{"list", idA + "\n" + idB + "\n", census.Options{}, "2 ids, without 0"},
		{"list in every form", `"` + idA + `",` + "\r\n\n  ObjectId(\"" + idB + "\"),\nObjectId('" + idA + "')\nObjectId(" + strings.ToUpper(idB) + ")", census.Options{}, "4 ids, without 0"},
		{"list in the notations of shells and SQL", `new ObjectId("` + idA + `")` + "\nx'" + idB + "';\n" + `{"$oid":"` + idA + `"};` + "\n0x" + idB + "\n" + `\x` + idA + ";\n", census.Options{}, "5 ids, without 0"},
		{"list with others", idA + "\nhello\n" + idB[1:] + "\n" + idB + "0\n", census.Options{}, "1 ids, without 0, broken 3"},
		{"csv", "_id,name\nObjectId(" + idA + "),\"a,\n\"\"b\"\n" + idB + ",c\n,d\nac3,e\n", census.Options{}, "2 ids, [text:1], without 1"},
		{"csv column", "name,ref\r\nx,ObjectId(" + idA + ")\r\ny\r\n", census.Options{Column: "ref"}, "1 ids, without 1"},
		{"csv of one column", "\ufeff_id\n" + idA + "\n", census.Options{}, "1 ids, without 0"},
		{"csv with a broken row", "_id,n\n" + idA + ",a\"b\n" + idB + ",c\n", census.Options{}, "1 ids, without 0, broken 1"},
		{"csv without the column", "a,b\n1,2\n", census.Options{Format: census.FormatCSV}, "0 ids, without 0, error"},
		{"grep", "x " + idA + ":" + idB + "\n" + idA + "0 " + idB[1:] + "\n\x00\xff" + strings.ToUpper(idB), census.Options{Format: census.FormatGrep}, "3 ids, without 0"},
		{"grep of digits alone", strings.Repeat("a", 1<<20), census.Options{Format: census.FormatGrep}, "0 ids, without 0"},
		{"array of ids", `[{"$oid":"` + idA + `"}, "` + idB + `", ObjectId("` + idA + `"), 7]`, census.Options{}, "3 ids, [int:1], without 0"},
		{"shell", `{ "_id" : ObjectId("` + idA + `"), "n" : NumberLong(7) }` + "\n", census.Options{}, "1 ids, without 0"},
		{"escaped key", `{"\u005fid":{"$oid":"` + idA + `"}}` + "\n", census.Options{}, "1 ids, without 0"},
		{"an id, and not quite one", `{"_id":{"$oid":"` + idA + `"}}` + "\n" + `{"_id":{"$oid":"` + idB + `","x":1}}` + "\n" + `{"_id":{"$oid":"` + idB[1:] + `x"}}` + "\n", census.Options{}, "1 ids, [object:2], without 0"},
		{"not quite an id", `{"_id":{"$oid":"` + idA + `","x":1}}` + "\n" + `{"_id":{"$oid":"` + idA[1:] + `"}}`, census.Options{}, "0 ids, [object:2], without 0"},
		{"broken lines", `{"_id":{"$oid":"` + idA + `"}}` + "\n" + `{"_id":{"$oid":"` + idB + `"},` + "\nnonsense\n{]}\n\n", census.Options{}, "1 ids, without 0, broken 3"},
		{"grep behind escapes", `a\u003c` + idA + `\u003e b\b` + idA + ` c\f` + idB + ` \n` + idA + ` \x3c` + idB + ` \x` + idA + ` %22` + idB + `%22 \\u0022` + idA, census.Options{Format: census.FormatGrep}, "8 ids, without 0"},
		{"grep of what only looks like an escape", `u003c` + idA + ` \u03c` + idA + ` \u0003c` + idA + ` x3c` + idB + ` \x3` + idB + ` \d` + idA + ` b` + idA + ` %2` + idB + ` 22` + idB, census.Options{Format: census.FormatGrep}, "0 ids, without 0"},
		{"mongosh", "[\n  {\n    _id: ObjectId('" + idA + "'),\n    name: \"it's }\",\n    'a b': [ 1, 'x}', `'\"}` ],\n    when: ISODate('2024-01-01T00:00:00.000Z'),\n    n: Long('5'), re: new Date(1, 2)\n  },\n  { n: 2, _id: ObjectId(\"" + idB + "\") },\n  { _id: UUID('00112233-4455-6677-8899-aabbccddeeff') },\n  { _id: ISODate('2024-01-01') },\n]\n", census.Options{}, "2 ids, [date:1 uuid:1], without 0"},
		{"mongosh by line", "{ _id: ObjectId('" + idA + "'), n: 1 }\n{_id:ObjectId('" + idB + "')}\n{ _id: new ObjectId('" + idB + "'), }\n", census.Options{}, "3 ids, without 0"},
		{"mongosh with more", "[\n { _id: ObjectId('" + idA + "') }\n]\nType \"it\" for more\n", census.Options{}, "1 ids, without 0, error"},
		{"without quotes", "{_id:1}\n{_id:2,a:'}'}\n", census.Options{}, "0 ids, [int:2], without 0"},
		{"strings", `{"_id":"` + idA + `"}` + "\n" + `{"_id":"` + strings.ToUpper(idB) + `"}` + "\n" + `{"_id":"` + idB[1:] + `"}` + "\n", census.Options{}, "2 ids, [string:1], without 0"},
		{"strings with an escape", `[{"_id":"\u0036` + idA[1:] + `"}]`, census.Options{}, "1 ids, without 0"},
		{"strings beside an ObjectId", `{"_id":"` + idA + `"}` + "\n" + `{"_id":{"$oid":"` + idA + `"}}` + "\n", census.Options{}, "1 ids, [hex-string:1], without 0"},
		{"semicolons", "name;_id\na,b;" + idA + "\nc;\"ObjectId(" + idB + ")\"\n", census.Options{}, "2 ids, without 0"},
		{"tabs", "\"_id\"\tname\r\n" + idA + "\ta;b,c\r\n" + idB + "\td\r\n", census.Options{}, "2 ids, without 0"},
		{"empty documents", "{}\n{ }\n", census.Options{}, "0 ids, without 2"},
		{"unknown", "what is this\n", census.Options{}, "0 ids, without 0, error"},
		{"empty", "", census.Options{}, "0 ids, without 0, error"},
		{"utf-16", "\xff\xfe{\x00", census.Options{}, "0 ids, without 0, error"},
	} {
		r, err := read(t, strings.NewReader(test.text), &test.o)
		if got := found(r); got != test.want {
			t.Errorf("%s: %s, want %s (%v)", test.name, got, test.want, err)
		}
		if wantBroken := strings.Contains(test.want, "broken") || strings.Contains(test.want, "error"); r.Broken() != wantBroken {
			t.Errorf("%s: Broken() = %v", test.name, r.Broken())
		}
	}
}

// TestEscapesBetweenBlocks puts an escaped character with an id behind it at every place
// where one block may end and the next begin.
func TestEscapesBetweenBlocks(t *testing.T) {
	for _, escape := range []string{`\u003c`, `\x3c`, `%3c`, `%253c`, `\b`, `\f`, `\n`, `\\`, `u`, ` `, `=3D`, `\U0000003c`, `#012`, "\x1b[2A", " " + idA[:8] + "=\r\n" + idA[8:] + " 0", "x=\n"} {
		for shift := range 40 {
			text := strings.Repeat("z", 256<<10-shift) + escape + idA + ">"
			r, err := read(t, strings.NewReader(text), &census.Options{Format: census.FormatGrep})
			if err != nil || r.IDs != 1 {
				t.Errorf("%s %d bytes before the end of a block: %d ids, %v", escape, shift, r.IDs, err)
			}
		}
	}
}

// TestLongRuns puts runs of digits that are no ids across the ends of blocks, and an id
// behind them.
func TestLongRuns(t *testing.T) {
	for _, before := range []string{"", "z", `\u`} {
		for n := 256<<10 - 40; n < 256<<10+70; n += testenv.Size(3, 1) {
			text := before + strings.Repeat("a", n) + " " + idA + " " + strings.Repeat("b", 3*n)
			r, err := read(t, strings.NewReader(text), &census.Options{Format: census.FormatGrep})
			if err != nil || r.IDs != 1 {
				t.Errorf("%q and %d digits: %d ids, %v", before, n, r.IDs, err)
			}
		}
	}
}

func TestPositions(t *testing.T) {
	// Every block ends at another place, and every 1000th line is no id.
	var text strings.Builder
	var bad []int64
	for i := range 60_000 {
		switch {
		case i%1000 == 999:
			bad = append(bad, int64(i+1))
			text.WriteString("{\"_id\":\"x\"}\n")
		case i%7 == 0:
			text.WriteString("\n")
		default:
			fmt.Fprintf(&text, "{\"_id\":{\"$oid\":\"65920080%08x%08x\"}}\n", i%3, i)
		}
	}
	r, err := read(t, strings.NewReader(text.String()), nil)
	if err != nil || len(r.Others) != 1 || r.Others[0].Count != int64(len(bad)) {
		t.Fatalf("%v, %+v", err, r.Others)
	}
	for i, e := range r.Others[0].Examples {
		if e.Position.Number != bad[i] {
			t.Errorf("example %d stands on line %d, want %d", i, e.Position.Number, bad[i])
		}
	}
}

// collect counts one source.
func collect(t *testing.T, data []byte) *census.Census {
	t.Helper()
	c := census.New(&census.Options{Collection: "orders"})
	if err := c.Read(t.Context(), "source", bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCompareFormats compares the same documents as every format has them: four ObjectIds, and a string
// of the digits of one of them.
func TestCompareFormats(t *testing.T) {
	all := forms(t)
	for name, data := range all {
		d, err := census.Compare(collect(t, data), collect(t, all["bson"]), nil)
		if err != nil {
			t.Fatal(err)
		}
		if d.Both != 4+1 || d.A.Only+d.B.Only != 0 || d.Retyped != 0 || d.A.Others != d.B.Others || d.B.Others == 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// The length of the first document may begin as the mark of UTF-8 does.
func TestBSONThatBeginsLikeAMark(t *testing.T) {
	document, err := bson.Marshal(bson.D{{Key: "_id", Value: objectid.New()}, {Key: "text", Value: strings.Repeat("x", 0xbfbbef-33)}})
	if err != nil || !strings.HasPrefix(string(document), "\ufeff") {
		t.Fatalf("a document that begins with %x, %v", document[:4], err)
	}
	r, err := read(t, bytes.NewReader(document), nil)
	if err != nil || r.IDs != 1 {
		t.Errorf("%d ids, %v, want 1", r.IDs, err)
	}
}

// Text in UTF-16 is refused, since no id would be found in it: also by a search for ids.
// The length of a first document may begin like its mark.
func TestUTF16(t *testing.T) {
	document, err := bson.Marshal(bson.D{{Key: "_id", Value: objectid.New()}, {Key: "text", Value: strings.Repeat("x", 65_279-33)}})
	if err != nil || len(document) != 65_279 {
		t.Fatalf("a document of %d bytes, %v", len(document), err)
	}
	for _, format := range []string{source.Auto, source.Grep} {
		for _, text := range []string{"\xff\xfe5\x000\x007\x00", "\xfe\xff\x005\x000\x007"} {
			if _, err := source.Open(strings.NewReader(text), source.Options{Format: format}); !errors.Is(err, census.ErrFormat) || !strings.Contains(err.Error(), "iconv -f UTF-16") {
				t.Errorf("%s, %q: %v", format, text, err)
			}
		}
		_, err := source.Open(bytes.NewReader(document), source.Options{Format: format})
		if wrong := format == source.Grep; (err != nil) != wrong || wrong && !strings.Contains(err.Error(), "this is BSON") {
			t.Errorf("%s, BSON of 65,279 bytes: %v", format, err)
		}
	}
}
