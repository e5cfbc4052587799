package source_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/report"
	"github.com/oidkit/oid/objectid"
)

// FuzzRead reads anything as anything. It must end, must not crash, must count
// the same however the bytes come, and must never find more than there is room
// for.
func FuzzRead(f *testing.F) {
	for _, data := range forms(f) {
		for format := range census.Formats() {
			f.Add(data, uint8(format), "_id")
		}
		f.Add(data, uint8(0), "lines.item")
		f.Add(zipped(data), uint8(0), "_id")
		f.Add(zstandard(data), uint8(0), "_id")
		f.Add(data[:len(data)*2/3], uint8(0), "tags.0")
	}
	f.Add([]byte("_id,a\nObjectId("+idA+"),b\n"), uint8(4), "_id")
	f.Add([]byte(idA+"\n"+idB+"\n"), uint8(5), "_id")
	f.Add([]byte("[ { _id: ObjectId('"+idA+"'), n: Long('5'), a: `'` }, { _id: new Date(1) } ]\nType \"it\" for more\n"), uint8(0), "_id")
	f.Add([]byte("{_id:1}\n{'_id':\""+idA+"\",}\n"), uint8(0), "_id")
	f.Add([]byte("a;_id\nb,c;"+idA+"\n"), uint8(0), "_id")
	f.Add([]byte("a\t_id\nb\t"+idA+"\n"), uint8(0), "_id")
	f.Add([]byte("\x05\x00\x00\x00\x00\xff\xff\xff\xff"), uint8(1), "_id")
	f.Add(bytes.Repeat([]byte(`{"a":`), 10_000), uint8(3), "a.a")
	f.Add(bytes.Repeat([]byte("["), 10_000), uint8(3), "_id")
	f.Fuzz(func(t *testing.T, data []byte, format uint8, field string) {
		o := &census.Options{Format: census.Formats()[int(format)%len(census.Formats())], Field: field, Workers: 2}
		r, err := read(t, bytes.NewReader(data), o)
		slow, slowErr := read(t, iotest.OneByteReader(bytes.NewReader(data)), o)
		if found(r) != found(slow) || (err == nil) != (slowErr == nil) {
			t.Errorf("at once: %s, %v; byte by byte: %s, %v", found(r), err, found(slow), slowErr)
		}
		if o.Format != census.FormatAuto && r.IDs > int64(len(data)/objectid.Size) {
			t.Errorf("%d ids in %d bytes", r.IDs, len(data))
		}
		if (err != nil) != (r.Sources[0].Error != "") {
			t.Errorf("error %v, in the report %q", err, r.Sources[0].Error)
		}
		if err := report.WriteText(&bytes.Buffer{}, r, 60); err != nil {
			t.Error(err)
		}
		if err := report.WriteHTML(&bytes.Buffer{}, r); err != nil {
			t.Error(err)
		}
	})
}

// FuzzGrep holds the search for ids in the blocks of a text to the search in the whole text.
func FuzzGrep(f *testing.F) {
	f.Add([]byte("x " + idA + ":" + idB + "\n" + idA + "0"))
	f.Add([]byte(idA + "\n"))
	f.Add(bytes.Repeat([]byte(idA+"-"), 2_000))
	f.Add(bytes.Repeat([]byte("0"), 1<<15))
	f.Add(bytes.Repeat([]byte("x"), 256<<10)) // one block, after which nothing follows
	f.Add([]byte(`\u003c` + idA + `\b` + idA + `%22` + idA + `\x3c` + idA + "=3D" + idA[:9] + "=\r\n" + idA[9:]))
	f.Fuzz(func(t *testing.T, data []byte) {
		want := int64(len(inspect.AppendObjectIDs(nil, string(data))))
		r, err := read(t, bytes.NewReader(data), &census.Options{Format: census.FormatGrep})
		if r.IDs != want || err != nil && !errors.Is(err, census.ErrEmpty) && data[0] != 0x1f && data[0] != 0x28 {
			t.Errorf("%d ids, %v, want %d", r.IDs, err, want)
		}
		lines := int64(0)
		for range bytes.Lines(data) {
			lines++
		}
		if err == nil && r.Sources[0].Units != lines {
			t.Errorf("%d lines, want %d", r.Sources[0].Units, lines)
		}
	})
}

// FuzzJSONLines holds the ids of JSON documents, one to a line, against the
// standard library's reading of them.
func FuzzJSONLines(f *testing.F) {
	for name, data := range forms(f) {
		if strings.HasPrefix(name, "json") {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var lines []byte
		want := int64(0)
		for line := range bytes.Lines(data) {
			line = bytes.TrimSpace(line)
			id, ok := firstID(line)
			if !ok || bytes.ContainsAny(line, "\r\n") {
				continue
			}
			lines = append(append(lines, line...), '\n')
			if id {
				want++
			}
		}
		if len(lines) == 0 {
			return
		}
		r, err := read(t, bytes.NewReader(lines), nil)
		if err != nil || r.IDs-r.Strings != want || r.Broken() {
			t.Errorf("%d ids, of which %d are strings, %v, want %d in %q", r.IDs, r.Strings, err, want, lines)
		}
	})
}

// firstID reports whether the first _id of a JSON document is an ObjectId; ok is
// false for a line that is no document, or one that is an id itself.
func firstID(line []byte) (id, ok bool) {
	d := json.NewDecoder(bytes.NewReader(line))
	if token, err := d.Token(); err != nil || token != json.Delim('{') || !json.Valid(line) {
		return false, false
	}
	first := true
	for d.More() {
		key, err := d.Token()
		if err != nil || first && key == "$oid" {
			return false, false
		}
		first = false
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return false, false
		}
		if key != "_id" {
			continue
		}
		var oid map[string]json.RawMessage
		if json.Unmarshal(value, &oid) != nil || len(oid) != 1 || bytes.Count(value, []byte(":")) != 1 {
			return false, bytes.Count(value, []byte("$oid")) == 0
		}
		var parsed objectid.ID
		text := strings.Trim(string(oid["$oid"]), `"`)
		return bytes.Contains(value, []byte(`"$oid"`)) && parsed.UnmarshalText([]byte(text)) == nil && len(oid["$oid"]) == 26, true
	}
	return false, true
}
