package census_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

// TestCollectionsAreJudgedApart reads collections that share their ids, one of other
// values and an empty one, as a dump has them.
func TestCollectionsAreJudgedApart(t *testing.T) {
	c := census.New(nil)
	for _, source := range []struct{ collection, text string }{
		{"shop.users", idA + "\n" + idB + "\n"},
		{"shop.profiles", idA + "\n"},
		{"admin.system.version", `{"_id":"authSchema"}` + "\n"},
		{"shop.profiles", idB + "\n" + idB + "\n"}, // the rest of it, from another file
		{"shop.carts", ""},
	} {
		err := c.ReadCollection(t.Context(), source.collection, source.collection, strings.NewReader(source.text))
		if err != nil && source.text != "" {
			t.Fatal(err)
		}
	}
	sum, err := c.Report(nil)
	if err != nil {
		t.Fatal(err)
	}
	if sum.IDs != 5 || sum.Distinct != 4 || sum.Repeated != 1 || len(sum.Sources) != 5 || len(sum.Findings) != 0 || len(sum.Others) != 1 || sum.First == nil {
		t.Errorf("summary %+v", sum)
	}
	want := []struct {
		name          string
		ids, distinct int64
		sources       int
		findings      []census.Kind
	}{
		{"shop.users", 2, 2, 1, nil},
		{"shop.profiles", 3, 2, 2, []census.Kind{census.KindDuplicate}},
		{"admin.system.version", 0, 0, 1, nil},
		{"shop.carts", 0, 0, 1, nil},
	}
	for i, r := range sum.Collections {
		w := want[i]
		if r.Collection != w.name || r.IDs != w.ids || r.Distinct != w.distinct || len(r.Sources) != w.sources || len(kinds(r)) != len(w.findings) {
			t.Errorf("%s: %+v, want %+v", r.Collection, r, w)
		}
	}
	if len(sum.Collections) != len(want) {
		t.Errorf("%d collections", len(sum.Collections))
	}
}

// The summary begins with the earliest id of all collections and ends with the latest, in
// whatever order they were read.
func TestSummaryOfTimes(t *testing.T) {
	early, middle, late := "4e7020cb7cac81af7136236b", "507f1f77bcf86cd799439011", idA
	for _, order := range [][]string{{early, middle, late}, {late, middle, early}, {middle, late, early}} {
		c := census.New(nil)
		for i, id := range order {
			if err := c.ReadCollection(t.Context(), "x", "shop."+strconv.Itoa(i), strings.NewReader(id+"\n")); err != nil {
				t.Fatal(err)
			}
		}
		sum, err := c.Report(nil)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := objectid.MustParse(early).Time(), objectid.MustParse(late).Time(); !sum.First.Equal(first) || !sum.Last.Equal(last) {
			t.Errorf("from %v to %v, want from %v to %v", sum.First, sum.Last, first, last)
		}
	}
}

// TestObjectIDsOrStrings holds which ids of a collection are judged, and which of them are
// outside of a range: its ObjectIds, or those that are strings where it has none.
func TestObjectIDsOrStrings(t *testing.T) {
	in, out := idOf(1_600_000_000, 1, 1), idOf(1_500_000_000, 1, 1)
	for name, test := range map[string]struct {
		objectIDs, strings             []objectid.ID
		ids, asStrings, outside, types int64
	}{
		"ObjectIds":                    {[]objectid.ID{in, out}, nil, 1, 0, 1, 0},
		"strings":                      {nil, []objectid.ID{in, out}, 1, 1, 1, 0},
		"strings that are outside":     {nil, []objectid.ID{out, out}, 0, 0, 2, 0},
		"both":                         {[]objectid.ID{in}, []objectid.ID{in, out}, 1, 0, 0, 1},
		"both outside":                 {[]objectid.ID{out}, []objectid.ID{out, out}, 0, 0, 1, 1},
		"ObjectIds that are outside":   {[]objectid.ID{out, out}, []objectid.ID{in, out}, 1, 1, 1, 0},
		"strings beside one ObjectId":  {[]objectid.ID{in}, []objectid.ID{in}, 1, 0, 0, 1},
		"strings after others outside": {nil, []objectid.ID{out, in}, 1, 1, 1, 0},
	} {
		c := census.New(&census.Options{Range: objectid.Since(time.Unix(1_550_000_000, 0))})
		for _, id := range test.objectIDs {
			if err := c.Read(t.Context(), "ObjectIds", bytes.NewReader(listOf([]objectid.ID{id}, false))); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range test.strings {
			if err := c.Read(t.Context(), "strings", bytes.NewReader(listOf([]objectid.ID{id}, true))); err != nil {
				t.Fatal(err)
			}
		}
		r, err := c.Report(nil)
		if err != nil || r.IDs != test.ids || r.Strings != test.asStrings || r.Outside != test.outside || int64(len(r.Others)) != test.types {
			t.Errorf("%s: %d ids, %d as strings, %d outside, %d other types, %v, want %+v", name, r.IDs, r.Strings, r.Outside, len(r.Others), err, test)
		}
	}
}

// TestCompareCollections compares collections of the same name, and single ones of any.
func TestCompareCollections(t *testing.T) {
	read := func(collections ...string) *census.Census {
		c := census.New(nil)
		for i := 0; i < len(collections); i += 2 {
			if err := c.ReadCollection(t.Context(), "x", collections[i], strings.NewReader(collections[i+1])); err != nil {
				t.Fatal(err)
			}
		}
		return c
	}
	for name, test := range map[string]struct {
		a, b               *census.Census
		both, onlyA, onlyB int64
	}{
		"one on each side":        {read("a", idA), read("b", idA), 1, 0, 0},
		"the same names":          {read("a", idA, "b", idB), read("b", idB, "a", idA), 2, 0, 0},
		"ids changed their place": {read("a", idA, "b", idB), read("b", idA, "a", idB), 0, 2, 2},
		"a collection is missing": {read("a", idA, "b", idB), read("b", idB), 1, 1, 0},
		"one has come":            {read("a", idA), read("a", idA, "b", idB), 1, 0, 1},
	} {
		d, err := census.Compare(test.a, test.b, nil)
		if err != nil || d.Both != test.both || d.A.Only != test.onlyA || d.B.Only != test.onlyB {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}
