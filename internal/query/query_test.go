package query_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/query"
	"github.com/oidkit/oid/objectid"
)

func TestLanguages(t *testing.T) {
	const a, b = "6b49d2000000000000000000", "6b49d2010000000000000000"
	from, to := objectid.MustParse(a), objectid.MustParse(b)
	vectors := map[string][4]string{ // of both bounds, of either, of none
		"ids": {a + "\n" + b, a + "\n-", "-\n" + b, "-\n-"},
		"mongosh": {
			`{ _id: { $gte: ObjectId("` + a + `"), $lt: ObjectId("` + b + `") } }`,
			`{ _id: { $gte: ObjectId("` + a + `") } }`, `{ _id: { $lt: ObjectId("` + b + `") } }`, "{}",
		},
		"json": {
			`{"_id":{"$gte":{"$oid":"` + a + `"},"$lt":{"$oid":"` + b + `"}}}`,
			`{"_id":{"$gte":{"$oid":"` + a + `"}}}`, `{"_id":{"$lt":{"$oid":"` + b + `"}}}`, "{}",
		},
		"sql":      {"c%d >= X'" + a + "' AND c%d < X'" + b + "'", "c%d >= X'" + a + "'", "c%d < X'" + b + "'", "1 = 1"},
		"sqltext":  {"c%d >= '" + a + "' AND c%d < '" + b + "'", "c%d >= '" + a + "'", "c%d < '" + b + "'", "1 = 1"},
		"postgres": {`c%d >= '\x` + a + `' AND c%d < '\x` + b + "'", `c%d >= '\x` + a + "'", `c%d < '\x` + b + "'", "1 = 1"},
		"go": {
			`objectid.Range{From: objectid.MustParse("` + a + `"), To: objectid.MustParse("` + b + `")}`,
			`objectid.Range{From: objectid.MustParse("` + a + `")}`, `objectid.Range{To: objectid.MustParse("` + b + `")}`, "objectid.Range{}",
		},
		"python": {
			`{"_id": {"$gte": ObjectId("` + a + `"), "$lt": ObjectId("` + b + `")}}`,
			`{"_id": {"$gte": ObjectId("` + a + `")}}`, `{"_id": {"$lt": ObjectId("` + b + `")}}`, "{}",
		},
		"node": {
			`{ _id: { $gte: new ObjectId("` + a + `"), $lt: new ObjectId("` + b + `") } }`,
			`{ _id: { $gte: new ObjectId("` + a + `") } }`, `{ _id: { $lt: new ObjectId("` + b + `") } }`, "{}",
		},
		"java": {
			`Filters.and(Filters.gte("_id", new ObjectId("` + a + `")), Filters.lt("_id", new ObjectId("` + b + `")))`,
			`Filters.gte("_id", new ObjectId("` + a + `"))`, `Filters.lt("_id", new ObjectId("` + b + `"))`, "new Document()",
		},
	}
	for _, l := range query.Languages {
		want, ok := vectors[l.Name]
		if !ok {
			t.Errorf("no vectors for the language %s: add what it writes of both bounds, of either and of none", l.Name)
			continue
		}
		for k, r := range []objectid.Range{{From: from, To: to}, {From: from}, {To: to}, {}} {
			if got := l.Write(r, "c%d", ""); got != want[k] {
				t.Errorf("%s of %v: %s, want %s", l.Name, r, got, want[k])
			}
		}
	}
}

// The languages that can ask for a process value do so beside the bounds, or alone.
func TestByProcess(t *testing.T) {
	const a, b = "6b49d2000000000000000000", "6b49d2010000000000000000"
	r := objectid.Range{From: objectid.MustParse(a), To: objectid.MustParse(b)}
	const value, block = "0a1b2c3d4e", "0a1b2c3d"
	want := map[string][2]string{ // with a range and a process value, and with a block alone
		"mongosh": {
			`{ _id: { $gte: ObjectId("` + a + `"), $lt: ObjectId("` + b + `") }, $expr: { $eq: [ { $substrBytes: [ { $toString: "$_id" }, 8, 10 ] }, "` + value + `" ] } }`,
			`{ $expr: { $eq: [ { $substrBytes: [ { $toString: "$_id" }, 8, 8 ] }, "` + block + `" ] } }`,
		},
		"json": {
			`{"_id":{"$gte":{"$oid":"` + a + `"},"$lt":{"$oid":"` + b + `"}},"$expr":{"$eq":[{"$substrBytes":[{"$toString":"$_id"},8,10]},"` + value + `"]}}`,
			`{"$expr":{"$eq":[{"$substrBytes":[{"$toString":"$_id"},8,8]},"` + block + `"]}}`,
		},
		"sql": {
			"c%d >= X'" + a + "' AND c%d < X'" + b + "' AND substr(hex(c%d), 9, 10) = '0A1B2C3D4E'",
			"substr(hex(c%d), 9, 8) = '0A1B2C3D'",
		},
		"sqltext": {
			"c%d >= '" + a + "' AND c%d < '" + b + "' AND substr(c%d, 9, 10) = '" + value + "'",
			"substr(c%d, 9, 8) = '" + block + "'",
		},
		"postgres": {
			`c%d >= '\x` + a + `' AND c%d < '\x` + b + "' AND substr(encode(c%d, 'hex'), 9, 10) = '" + value + "'",
			"substr(encode(c%d, 'hex'), 9, 8) = '" + block + "'",
		},
		"python": {
			`{"_id": {"$gte": ObjectId("` + a + `"), "$lt": ObjectId("` + b + `")}, "$expr": {"$eq": [{"$substrBytes": [{"$toString": "$_id"}, 8, 10]}, "` + value + `"]}}`,
			`{"$expr": {"$eq": [{"$substrBytes": [{"$toString": "$_id"}, 8, 8]}, "` + block + `"]}}`,
		},
		"node": {
			`{ _id: { $gte: new ObjectId("` + a + `"), $lt: new ObjectId("` + b + `") }, $expr: { $eq: [ { $substrBytes: [ { $toString: "$_id" }, 8, 10 ] }, "` + value + `" ] } }`,
			`{ $expr: { $eq: [ { $substrBytes: [ { $toString: "$_id" }, 8, 8 ] }, "` + block + `" ] } }`,
		},
		"java": {
			`Filters.and(Filters.gte("_id", new ObjectId("` + a + `")), Filters.lt("_id", new ObjectId("` + b + `")), Filters.expr(Document.parse("{ $eq: [ { $substrBytes: [ { $toString: '$_id' }, 8, 10 ] }, '` + value + `' ] }")))`,
			`Filters.expr(Document.parse("{ $eq: [ { $substrBytes: [ { $toString: '$_id' }, 8, 8 ] }, '` + block + `' ] }"))`,
		},
	}
	for _, f := range query.Languages {
		w, ok := want[f.Name]
		if f.ByProcess() != ok {
			t.Errorf("language %s: ByProcess() is %v; add what it writes to this test if it is to ask for a process, or else leave out its part process", f.Name, f.ByProcess())
			continue
		}
		if !ok {
			w = [2]string{f.Write(r, "c%d", ""), f.Write(objectid.Range{}, "c%d", "")}
		}
		if got := f.Write(r, "c%d", value); got != w[0] {
			t.Errorf("%s: %s, want %s", f.Name, got, w[0])
		}
		if got := f.Write(objectid.Range{}, "c%d", block); got != w[1] {
			t.Errorf("%s alone: %s, want %s", f.Name, got, w[1])
		}
	}
}

func TestParseProcess(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "  ": "", "bcf86cd799": "bcf86cd799", " BCF86CD7\n": "bcf86cd7", "0000000000": "0000000000",
	} {
		if got, err := query.ParseProcess(in); got != want || err != nil {
			t.Errorf("ParseProcess(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"bcf86cd", "bcf86cd79", "bcf86cd7990", "507f1f77bcf86cd799439011", "bcf86cdg", "bcf8 6cd799", "bcf86cd7' OR 1"} {
		if got, err := query.ParseProcess(in); err == nil || !strings.Contains(err.Error(), in) {
			t.Errorf("ParseProcess(%q) = %q, %v, want an error that shows it", in, got, err)
		}
	}
}

func ExampleLanguage() {
	november := objectid.Between(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	for _, f := range query.Languages[1:4] {
		fmt.Println(f.Write(november, "id", ""))
	}
	// Output:
	// { _id: { $gte: ObjectId("6ae681000000000000000000"), $lt: ObjectId("6b0e0e000000000000000000") } }
	// {"_id":{"$gte":{"$oid":"6ae681000000000000000000"},"$lt":{"$oid":"6b0e0e000000000000000000"}}}
	// id >= X'6ae681000000000000000000' AND id < X'6b0e0e000000000000000000'
}
