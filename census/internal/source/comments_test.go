package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/oidkit/oid/census"
)

// TestComments holds that comments, which clients for MongoDB write between documents, are
// neither counted nor in the way, whatever is in them and wherever the input is cut.
func TestComments(t *testing.T) {
	var robo strings.Builder
	for i, id := range []string{idA, idB} {
		fmt.Fprintf(&robo, "/* %d */\n{\n    \"_id\" : ObjectId(\"%s\"),\n    \"at\" : ISODate(\"2022-04-02T20:14:40.000Z\"),\n    \"n\" : NumberLong(%d),\n    \"u\" : LUUID(\"00112233-4455-6677-8899-aabbccddeeff\")\n}\n\n", i+1, id, i)
	}
	a, b := `{"_id":{"$oid":"`+idA+`"}}`, `{"_id":{"$oid":"`+idB+`"}}`
	for _, test := range []struct{ name, text, want string }{
		{"Robo 3T", robo.String(), "2 ids, without 0"},
		{"NoSQLBooster", "/* 1 createdAt:2022/4/2 下午10:43:07*/\n{\n\t\"_id\" : ObjectId(\"" + idA + "\")\n},\n\n/* 2 it's { \"open */\n{\n\t\"_id\" : ObjectId(\"" + idB + "\")\n}", "2 ids, without 0"},
		{"Studio 3T", "// 1\n{\n \"_id\": ObjectId(\"" + idA + "\"), // it's \"\n \"n\": 1\n}\n// 2 {\n" + b, "2 ids, without 0"},
		{"an array with comments", "/* all */ [ // first\n" + a + " /* ] */, /* second */ " + b + " ] // end", "2 ids, without 0"},
		{"lines with comments", a + "\n// it's a comment {\n/* 7 */\n" + b + " // 2\n/* 3 */ " + a + "\n", "3 ids, without 0"},
		{"comments alone", "[/**//***/ // \n]", "0 ids, without 0"},
		{"within documents", "{ /* \" */ _id /* : */ : /* 1 */ ObjectId('" + idA + "') /* , */ , // }\n n: 1 }", "1 ids, without 0"},
		{"what is no comment", `{"a":"/* {", "_id":{"$oid":"` + idA + `"}, "b":"// */"}` + "\n{ re: /it's {\\/[/\"]\\//i, _id: ObjectId('" + idB + "') }", "2 ids, without 0"},
		{"a comment without an end", a + "\n/* " + b, "1 ids, without 0, broken 1"},
		{"a comment without an end, after lines", "[" + a + " /* " + b, "1 ids, without 0, error"},
		{"a slash", a + "\n/\n" + b + "\n", "2 ids, without 0, broken 1"},
	} {
		for how, in := range map[string]func() *census.Report{
			"at once": func() *census.Report { r, _ := read(t, strings.NewReader(test.text), nil); return r },
			"byte by byte": func() *census.Report {
				r, _ := read(t, iotest.OneByteReader(strings.NewReader(test.text)), nil)
				return r
			},
		} {
			if got := found(in()); got != test.want {
				t.Errorf("%s, %s: %s, want %s", test.name, how, got, test.want)
			}
		}
	}
	// At every place where one read may end and the next begin.
	for shift := range 80 {
		text := "[" + strings.Repeat(" ", 256<<10-shift) + a + "/* { */ // \"\n" + b
		if r, _ := read(t, strings.NewReader(text+"]"), nil); found(r) != "2 ids, without 0" {
			t.Errorf("%d bytes before the end of a read: %s", shift, found(r))
		}
	}
	if r, _ := read(t, strings.NewReader(strings.Repeat("//\n", 1<<20)+a), &census.Options{Format: census.FormatJSON}); r.IDs != 1 {
		t.Errorf("after a million comments: %d ids", r.IDs)
	}
}

// FuzzComments holds that comments between documents change nothing.
func FuzzComments(f *testing.F) {
	f.Add("it's { 1", `{"_id":{"$oid":"`+idA+`"}}`, uint8(0))
	f.Add("[", `{"a":"/*","_id":"`+idA+`"}`, uint8(1))
	f.Fuzz(func(t *testing.T, comment, doc string, form uint8) {
		comment = strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '/' // the rest may be taken for binary data
			}
			return r
		}, comment)
		comment = strings.ReplaceAll(comment, "*", "") + " "
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(doc)) != nil || compact.Bytes()[0] != '{' {
			return
		}
		doc, commented := compact.String()+"\n", "/*"+comment+"*/\n"
		if form%2 == 1 {
			commented = "//" + comment + "\n"
		}
		o := &census.Options{Format: census.FormatJSON}
		want, wantErr := read(t, strings.NewReader(doc+doc), o)
		got, err := read(t, strings.NewReader(commented+doc+commented+doc+commented), o)
		if found(got) != found(want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%q: %s, %v, without comments %s, %v", commented+doc, found(got), err, found(want), wantErr)
		}
	})
}
