package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
)

// elsewhere returns the fields with ids that a report names, in short.
func elsewhere(r *census.Report) string {
	if r.Unjudged == nil {
		return "judged"
	}
	var out []string
	for _, e := range r.Unjudged.Elsewhere {
		kind := ""
		if e.InText {
			kind = " in text"
		}
		if e.InOtherText {
			kind = " among text"
		}
		out = append(out, fmt.Sprintf("%s %d%s", e.Field, e.IDs, kind))
	}
	return strings.Join(out, ", ")
}

// follow reads data from each place that r names, which must have as many ids as r says.
func follow(t *testing.T, name string, data []byte, r *census.Report) {
	t.Helper()
	for _, e := range r.Unjudged.Elsewhere {
		o := &census.Options{Field: e.Field}
		if e.InOtherText {
			continue // see TestAmongOtherText
		}
		if e.IsColumn {
			o = &census.Options{Column: e.Field}
		}
		if r, err := read(t, bytes.NewReader(data), o); r.IDs != e.IDs || err != nil {
			t.Errorf("%s: %q has %d ids, %v, want %d", name, e.Field, r.IDs, err, e.IDs)
		}
	}
}

// TestPlaces holds that a census without ids names the fields that have them, and that it finds
// them there.
func TestPlaces(t *testing.T) {
	const a, b = `{"$oid":"` + idA + `"}`, `{"$oid":"` + idB + `"}`
	quoted := func(text string) string { return strconv.Quote(text) }
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprintf(`"user%d":{"_id":%s}`, i, a)
	}
	for _, test := range []struct{ name, text, want string }{
		{"ids", `{"_id":` + a + `}`, "judged"},
		{"nothing", `{"id":1,"name":"x"}`, ""},
		{"nested", `{"o":{"_id":` + a + `},"o2":{"_id":` + b + `}}` + "\n" + `{"o":{"_id":` + b + `}}`, "o._id 2, o2._id 1"},
		{"other types of _id", `{"_id":7,"ref":` + a + `}`, "ref 1"},
		{"compound _id", `{"_id":{"user":` + a + `,"day":3}}`, "_id.user 1"},
		{"Elasticsearch", `{"hits":{"total":2,"hits":[{"_id":"` + idA + `"},{"_id":"` + idB + `"}]}}`, "hits.hits._id 2"},
		{"bytes of PostgreSQL", `{"id":"\\x` + idA + `"}`, "id 1"},
		{"a list of references", `{"refs":["` + idA + `","` + idB + `"]}`, "refs 2"},
		{"keyed", `{"` + idA + `":{"n":0},"` + idB + `":{"n":1}}`, "*~ 2"},
		{"keyed, with ids within", `{"by":{"` + idA + `":{"of":` + b + `}}}`, "by.*~ 1, by.*.of 1"},
		{"keyed by names", "{" + strings.Join(many[:40], ",") + "}", "*._id 40"},
		{"keyed by many names", "{" + strings.Join(many, ",") + "}", "*._id 300"},
		{"not keyed, but many", "{" + strings.Join(many[:6], ",") + "}", "user0._id 1, user1._id 1, user2._id 1, user3._id 1, user4._id 1"},
		{"rows", `{"rows":[["` + idA + `",1],["` + idB + `",2]]}`, "rows.*.0 2"},
		{"rows alone", `[["x","` + idA + `"],["y","` + idB + `"]]`, "1 2"},
		{"pages of documents", `[[{"_id":` + a + `}],[{"_id":` + b + `}]]`, "judged"},
		{"dots in names", `{"order.id":` + a + `,"a.b":{"c.d":` + b + `}}`, "a.b.c.d 1, order.id 1"},
		{"numbers as names", `{"a":[{"7":` + a + `}],"b":{"7":` + b + `}}`, "b.7 1, a.*.7 1"},
		{"JSON within text", `{"before":null,"after":` + quoted(`{"_id": `+a+`}`) + `}`, "after._id 1 in text"},
		{"JSON within text within text", `{"a":` + quoted(`{"b": `+quoted(` [{"c": `+a+`}]`)+`}`) + `}`, "a.b.c 1 in text"},
		{"texts in an array", `{"a":[` + quoted(`{"c": `+a+`}`) + `,` + quoted(`{"c": `+b+`}`) + `]}`, "a.c 2 in text"},
		{"documents as text", quoted(`{"_id":`+a+`}`) + "\n" + quoted(`{"_id":`+b+`}`), "judged"},
		{"text that only looks like JSON", `{"a":"{[}","b":"{` + idA + `","c":` + a + `}`, "c 1, b 1 among text"},
		{"an id in JSON within text", `{"a":` + quoted(b) + `,"c":` + a + `}`, "c 1"},
		{"text after JSON within text", `{"a":` + quoted(`{"b":`+a+`} and more`) + `,"c":` + a + `}`, "c 1, a 1 among text"},
		{"names that no path has", `{"":` + a + `,"*x":` + a + `,"ok":` + b + `}`, "ok 1"},
		{"the shell", "{ a: ObjectId('" + idA + "'), b: [ObjectId(\"" + idB + "\"), 7] }", "a 1, b 1"},
		{"CSV", "n,ref\n1," + idA + "\n2,ObjectId(" + idB + ")\n", ""},
		{"CSV with the column", "_id,ref\n1," + idA + "\n," + idB + "\n", "ref 2"},
		{"JSON within CSV", "_id;doc\n1;\"{\"\"_id\"\":\"\"" + idA + "\"\"}\"\n", "doc._id 1 in text"},
	} {
		r, err := read(t, strings.NewReader(test.text), nil)
		if got := elsewhere(r); got != test.want && r.Sources[0].Error == "" {
			t.Errorf("%s: %s, %v, want %s", test.name, got, err, test.want)
		}
		if r.Unjudged != nil {
			follow(t, test.name, []byte(test.text), r)
		}
		var doc bson.D
		if test.text[0] != '{' || bson.UnmarshalExtJSON([]byte(test.text), false, &doc) != nil || strings.Contains(test.text, "\n") {
			continue
		}
		raw, err := bson.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		r, err = read(t, bytes.NewReader(raw), nil)
		if got := elsewhere(r); got != regexp.MustCompile(`, \w+ 1 among text`).ReplaceAllString(test.want, "") { // --grep reads no BSON
			t.Errorf("%s in BSON: %s, %v, want %s", test.name, got, err, test.want)
		}
		if r.Unjudged != nil {
			follow(t, test.name+" in BSON", raw, r)
		}
	}
	// CSV without the column is not recognised; the error names the columns that have ids.
	for text, want := range map[string]string{
		"n,ref\n1," + idA + "\n":                               `; the column "ref" has 1 id: write --column ref`,
		"n\tits ref\n1\t" + idA + "\n2\t" + idB:                `; the column "its ref" has 2 ids: write --column 'its ref'`,
		"op;after\nc;\"{\"\"_id\"\": \"\"" + idA + "\"\"}\"\n": `; the column "after._id" has 1 id: write --column after._id`,
		"--\n-- Dump\n--\nid\tn\n" + idA + "\t1\n":             `or a list of ids; the text has ids: write --grep`,
		idA + "\t1\n" + idB + "\t2\n":                          `or a list of ids; the text has ids: write --grep`,
		"n,message\n1,order " + idA + "\n":                     "; the text has ids: write --grep",
		"no id\n":                                              `or a list of ids`,
		// Other texts have separators, too.
		"db.users.insertMany([\n{ \"_id\": ObjectId(\"" + idA + "\") },\n{ \"_id\": ObjectId(\"" + idB + "\") }\n]);\n": "; the text has ids: write --grep",
		"users:\n  - _id:\n      $oid: \"" + idA + "\"\n  - _id: " + idB + "\n":                                         "; the text has ids: write --grep",
	} {
		if _, err := read(t, strings.NewReader(text), nil); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	lines := strings.Repeat(`{"a":`+a+`}`+"\n", 20_000) // several blocks and batches
	for unit, text := range map[string]string{"lines": lines, "documents": "[" + lines + "]", "rows": "_id,a\n" + strings.Repeat(","+idA+"\n", 20_000)} {
		r, _ := read(t, strings.NewReader(text), nil)
		if got := r.Unjudged.String(); !strings.HasPrefix(got, "ids are in other fields; in the first 1,000 "+unit+", `a` has 1,000 ids: write --") {
			t.Error(got)
		}
	}
	r, _ := read(t, strings.NewReader(`{"id":1,"at":{"$date":"2020-01-01T00:00:00Z"},"x":[],"name":"n"}`), nil)
	if got := r.Unjudged.String(); got != "no ObjectId in any field of the first line; the first one has the members id (int), at (date), x (array), name (string)" {
		t.Error(got)
	}
}

// TestAmongOtherText holds that a census without ids counts those among other words, and says how to
// read them. jq writes the lines as programs log.
func TestAmongOtherText(t *testing.T) {
	jq := testenv.Program(t, "jq", "jq")
	for filter, want := range map[string]string{
		`range(9) | {level: 30, msg: "order $a failed, not \("$b")"}`: "msg 18 among text",
		`{events: [range(9) | {message: "order=$a\n"}]}`:              "events.message 9 among text",
		`range(9) | {_id: ., tags: ["a", "id:$a"]}`:                   "tags.* 9 among text",
		`range(9) | {log: ({msg: "order $a", _id: "$b"} | tojson)}`:   "log._id 9 in text, log.msg 9 among text",
		`["_id", "n"], (range(9) | [., "order $a"]) | @csv`:           "n 9 among text",
		`range(9) | {msg: "no order"}`:                                "",
	} {
		text := testenv.Run(t, exec.Command(jq, "-nrc", strings.NewReplacer("$a", idA, "$b", idB).Replace(filter)))
		r, _ := read(t, strings.NewReader(text), nil)
		if got := elsewhere(r); got != want {
			t.Errorf("%s: %s, want %s", filter, got, want)
		}
		if got := r.Unjudged.String(); strings.HasSuffix(got, "(among other text) has 9 ids: write --grep") != strings.HasSuffix(want, "9 among text") {
			t.Errorf("%s: %s", filter, got)
		}
	}
}

// TestLinesAlike reads lines that begin like the line before, but have more ids behind the first.
func TestLinesAlike(t *testing.T) {
	const a, b = `{"$oid":"` + idA + `"}`, `{"$oid":"` + idB + `"}`
	for _, test := range []struct {
		field, text string
		ids         int64
	}{
		{"*", `{"x":` + a + `}` + "\n" + `{"x":` + a + `,"y":` + b + `}`, 3},
		{"x.y", `{"x":[{"y":` + a + `}]}` + "\n" + `{"x":[{"y":` + a + `},{"y":` + b + `}]}`, 3},
		{"*", a + "\n" + b, 2},
	} {
		if r, err := read(t, strings.NewReader(test.text), &census.Options{Field: test.field}); r.IDs != test.ids || r.Sources[0].Others > 0 || err != nil {
			t.Errorf("--field %s: %d ids, %d others, %v, want %d ids", test.field, r.IDs, r.Sources[0].Others, err, test.ids)
		}
	}
}

// TestPaths reads values from paths as MongoDB would, in JSON and in BSON.
func TestPaths(t *testing.T) {
	const a, b = `{"$oid":"` + idA + `"}`, `{"$oid":"` + idB + `"}`
	for _, test := range []struct{ field, text, want string }{
		{"a.b", `{"a":[{"b":` + a + `},{"b":` + b + `}]}`, "2 ids, without 0"},
		{"a.b", `{"a":[[{"b":` + a + `}]]}`, "0 ids, without 1"},
		{"a.*.b", `{"a":[[{"b":` + a + `}]]}`, "1 ids, without 0"},
		{"a.1", `{"a":[` + a + `,` + b + `]}`, "1 ids, without 0"},
		{"a.2", `{"a":[` + a + `,` + b + `]}`, "0 ids, without 1"},
		{"a.0", `{"a":[7,{"0":` + a + `}]}`, "0 ids, [int:1], without 0"},
		{"a", `{"a":[` + a + `,[` + b + `],"x"]}`, "1 ids, [array:1 string:1], without 0"},
		{"_id", `{"_id":[` + a + `]}`, "0 ids, [array:1], without 0"},
		{"_id", `{"_id":["` + idA + `"]}`, "0 ids, [array:1], without 0"},
		{"a", `{"a":["` + idA + `","x"]}`, "1 ids, [string:1], without 0"},
		{"_id", `{"_id":{"$binary":{"base64":"UH8fd7z4bNeZQ5AR","subType":"00"}}}`, "0 ids, [binData:1], without 0"},
		{"a.b.c", `{"a.b":{"c":` + a + `},"a":{"b":{"c":` + b + `}}}`, "1 ids, without 0"},
		{"a.b", `{"a":{"b":1,"b.c":` + a + `}}`, "0 ids, [int:1], without 0"},
		{"a.b.c", `{"a.b.c.d":` + a + `}`, "0 ids, without 1"},
		{"a.b", `{"a":"{\"b\":\"` + idA + `\"}"}`, "1 ids, without 0"},
		{"a.b", `{"a":"{b"}`, "0 ids, without 1"},
		{"a.b", `{"a":"{\"b\" 1}","b":` + a + `}`, "0 ids, without 1"},
		{"a.*~", `{"a":{"` + idA + `":1,"x":2}}`, "1 ids, [string:1], without 0"},
	} {
		var doc bson.D
		if err := bson.UnmarshalExtJSON([]byte(test.text), false, &doc); err != nil {
			t.Fatal(err)
		}
		raw, err := bson.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		for how, data := range map[string][]byte{"JSON": []byte(test.text), "BSON": raw} {
			if r, err := read(t, bytes.NewReader(data), &census.Options{Field: test.field}); found(r) != test.want || err != nil {
				t.Errorf("%s of %s in %s: %s, %v, want %s", test.field, test.text, how, found(r), err, test.want)
			}
		}
	}
	if r, err := read(t, strings.NewReader(`{"_id":`+a+`,"_id":`+b+`,"x" 1}`+"\n"), nil); found(r) != "1 ids, without 0" || err != nil {
		t.Errorf("what is behind _id: %s, %v", found(r), err)
	}
	if r, _ := read(t, strings.NewReader(a+" \n"+a+b+"\n"), nil); found(r) != "1 ids, without 0, broken 1" {
		t.Errorf("two ids on a line: %s", found(r))
	}
	text := "n,after\n1,\"{\"\"_id\"\":\"\"" + idA + "\"\"}\"\n2,\"{}\"\n3,\n4,\"{\"\"_id\"\":\"\"" + idB + "\"\"}\"\n5,x\n"
	if r, err := read(t, strings.NewReader(text), &census.Options{Column: "after._id"}); found(r) != "2 ids, without 3" || err != nil {
		t.Errorf("a path in CSV: %s, %v", found(r), err)
	}
	text = "ref,after\n" + idA + ",\"{\"\"_id\"\":7}\"\n" + idB + ",{}\n" + idB + ",x\n"
	if r, err := read(t, strings.NewReader(text), &census.Options{Column: "after._id"}); elsewhere(r) != "ref 3" || err != nil {
		t.Errorf("a path without ids in CSV: %s, %v", elsewhere(r), err)
	}
	ids := "_id,x\n7," + idA + "\n" + idB + "," + idA + "\n"
	if r, _ := read(t, strings.NewReader(ids), nil); found(r) != "1 ids, [text:1], without 0" {
		t.Errorf("CSV: %s", found(r))
	}
}

// TestPlacesOfJQ wraps documents that pymongo wrote with jq, as people do, and reads the ids from
// the field that the census names. jq counts them.
func TestPlacesOfJQ(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import bson").Run() != nil {
		testenv.Missing(t, "python3-bson is not installed: apt-get install python3-bson")
	}
	if exec.Command("jq", "--version").Run() != nil {
		testenv.Missing(t, "jq is not installed: apt-get install jq")
	}
	docs, err := exec.Command(python, "-c", `
from bson import ObjectId, json_util
for i in range(500):
    print(json_util.dumps({"_id": ObjectId("6592008029c8c3e4dc%06x" % i), "n": i, "by": {"name": "a\"b\\"}}))`).Output()
	if err != nil {
		t.Fatal(err)
	}
	jq := func(in []byte, args ...string) []byte {
		cmd := exec.Command("jq", args...)
		cmd.Stdin = bytes.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("jq %q: %v", args, err)
		}
		return out
	}
	for _, test := range []struct {
		field string
		wrap  []string
	}{
		{"data._id", []string{"-s", "{data: .}"}},
		{"hits.hits._id", []string{"-s", `{hits: {hits: map({_id: ._id["$oid"], _source: {n}})}}`}},
		{"*~", []string{"-s", `map({(._id["$oid"]): {n}}) | add`}},
		{"rows.*.1", []string{"-s", `{rows: map([.n, ._id["$oid"]])}`}},
		{"documentKey._id", []string{"-c", `{_id: {_data: "82"}, documentKey: {_id}}`}},
		{"payload.after._id", []string{"-c", `{payload: {before: null, after: tojson}}`}},
		{"value.doc.ref", []string{"-a", `{value: ({doc: ({ref: ._id} | tojson)} | tojson)}`}},
		{"data.orders.edges.node.id", []string{"-s", `{data: {orders: {edges: map({node: {id: ._id["$oid"]}})}}}`}},
		{"by.ref", []string{"-c", `[{by: {ref: ._id, name: .by.name}}]`}},
	} {
		wrapped := jq(docs, test.wrap...)
		counted, err := strconv.ParseInt(strings.TrimSpace(string(jq(wrapped, "-s", `
			def texts: strings | fromjson? | objects, arrays;
			def all: ., (.[]? | all), (texts | all);
			[.[] | all | (strings, (objects | keys[])) | select(test("^[0-9a-f]{24}$"))] | length`))), 10, 64)
		if err != nil || counted != 500 {
			t.Fatalf("%s: jq counts %d ids, %v", test.field, counted, err)
		}
		r, err := read(t, bytes.NewReader(wrapped), nil)
		if err != nil || r.Unjudged == nil || len(r.Unjudged.Elsewhere) != 1 || r.Unjudged.Elsewhere[0].Field != test.field || r.Unjudged.Elsewhere[0].IDs != counted {
			t.Errorf("%s: %+v, %v", test.field, r.Unjudged, err)
			continue
		}
		follow(t, test.field, wrapped, r)
	}
}

// FuzzPlaces holds that each field which a census names has as many ids as it says, in any
// document.
func FuzzPlaces(f *testing.F) {
	for _, text := range []string{
		`{"a":[{"b":"` + idA + `"},["` + idB + `",{"c":{"$oid":"` + idA + `"}}]]}`, `{"` + idA + `":{"` + idB + `":"` + idA + `"}}`,
		`{"a":"{\"b\":\"` + idA + `\"}","c.d":{"0":"` + idB + `"}}`, `[[["` + idA + `"]],"{\"x\":[\"` + idB + `\"]}"]`,
		`{"a":[["` + idA + `"],{"b":[{"*":"` + idB + `"}]}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var value any
		if json.Unmarshal(text, &value) != nil {
			return
		}
		text, err := json.Marshal([]any{value}) // without repeated keys
		if err != nil {
			t.Fatal(err)
		}
		r, err := read(t, bytes.NewReader(text), &census.Options{Format: census.FormatJSON})
		if err != nil || r.Unjudged == nil {
			return
		}
		for _, e := range r.Unjudged.Elsewhere {
			if e.InOtherText {
				continue
			}
			if r, err := read(t, bytes.NewReader(text), &census.Options{Format: census.FormatJSON, Field: e.Field}); r.IDs != e.IDs || err != nil {
				t.Errorf("%q in %s has %d ids, %v, want %d", e.Field, text, r.IDs, err, e.IDs)
			}
		}
	})
}
