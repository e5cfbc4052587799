package census_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

// TestUnjudged holds what a census says if it judged no id: where ids are, those fields first that
// have the most, or what it saw instead.
func TestUnjudged(t *testing.T) {
	const id = "6592008029c8c3e4dc76250"
	object := func(n string) string { return `{"$oid":"` + id + n + `"}` }
	for _, test := range []struct {
		name    string
		sources []string
		column  string
		want    string // empty if ids were judged
	}{
		{"an id", []string{`{"_id":` + object("1") + `}`}, "", ""},
		{"an id in another source", []string{`{"a":1}`, `{"_id":` + object("1") + `}`}, "", ""},
		{"nothing", []string{`{"a":1}`}, "", "no ObjectId in any field of the first line; the first one has the members a (int)"},
		{"nothing in two", []string{`{"a":1}` + "\n" + `{"b":1}`}, "", "no ObjectId in any field of the first 2 lines; the first one has the members a (int)"},
		{
			"two sources",
			[]string{`{"a":` + object("1") + `,"b":` + object("2") + `}`, `{"b":` + object("3") + `}`},
			"",
			"ids are in other fields; in the first 2 lines, `b` has 2 ids: write --field b; `a` has 1 id: write --field a",
		},
		{
			"short names first",
			[]string{`{"z":` + object("1") + `,"a.b":1,"long":` + object("2") + `,"y":` + object("3") + `}`},
			"",
			"ids are in other fields; in the first line, `y` has 1 id: write --field y; `z` has 1 id: write --field z; `long` has 1 id: write --field long",
		},
		{
			"at most five",
			[]string{`{"a":` + object("1") + `,"b":` + object("1") + `,"c":` + object("1") + `,"d":` + object("1") + `,"e":` + object("1") + `,"f":` + object("1") + `}`},
			"",
			"ids are in other fields; in the first line, `a` has 1 id: write --field a; `b` has 1 id: write --field b; `c` has 1 id: write --field c; `d` has 1 id: write --field d; `e` has 1 id: write --field e",
		},
		{"the usual column, if another was asked for", []string{"_id,x\n" + id + "1,7\n"}, "x", "ids are in other fields; in the first row, `_id` has 1 id: write --column _id"},
	} {
		c := census.New(&census.Options{Column: test.column})
		for _, text := range test.sources {
			if err := c.Read(t.Context(), "source", strings.NewReader(text+"\n")); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
		}
		r, err := c.Report(nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if r.Unjudged != nil {
			got = r.Unjudged.String()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	// Only one column of a table is read.
	c := census.New(nil)
	row, err := bson.Marshal(bson.D{{Key: "_id", Value: 7}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ReadLive(t.Context(), census.Live{Name: "table", IsTable: true}, bytes.NewReader(row)); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Report(nil); err != nil || r.Unjudged.String() != "no id in 1 row" {
		t.Errorf("a table: %v, %v", r.Unjudged, err)
	}
	// Ids outside the range were judged, and an empty source has none to judge.
	for name, text := range map[string]string{"outside": id + "1\n", "no documents": "[]"} {
		c := census.New(&census.Options{Range: objectid.Since(time.Unix(1_900_000_000, 0))})
		if err := c.ReadLive(t.Context(), census.Live{Name: "empty"}, strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
		if err := c.Read(t.Context(), "source", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if r, err := c.Report(nil); err != nil || r.Unjudged != nil {
			t.Errorf("%s: %+v, %v", name, r.Unjudged, err)
		}
	}
}
