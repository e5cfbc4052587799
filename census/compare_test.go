package census_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

// collect counts one source.
func collect(t *testing.T, data []byte) *census.Census {
	t.Helper()
	c := census.New(&census.Options{Collection: "orders"})
	if err := c.Read(t.Context(), "source", bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	for seed := range uint64(20) {
		p := newPopulation(seed)
		p.play(p.anyProcess(), p.anyProcess())
		for range 3000 {
			p.ids = append(p.ids, p.id(0)) // more writers than have a list of their own
		}
		sides := [2]map[objectid.ID]bool{{}, {}}
		var texts [2]strings.Builder
		for side := range texts {
			for _, i := range p.random.Perm(len(p.ids)) { // in another order
				if p.random.IntN(10) > 0 {
					sides[side][p.ids[i]] = true
					texts[side].WriteString(p.ids[i].String() + "\n")
				}
			}
		}
		var want [2]int64
		both := int64(0)
		for side := range sides {
			for id := range sides[side] {
				if !sides[1-side][id] {
					want[side]++
				} else if side == 0 {
					both++
				}
			}
		}
		d, err := census.Compare(collect(t, []byte(texts[0].String())), collect(t, []byte(texts[1].String())), func(inA bool, id objectid.ID, isString bool) error {
			if isString || sides[0][id] != inA || sides[1][id] == inA {
				t.Errorf("seed %d: %v is said to be in A alone: %v", seed, id, inA)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if d.Both != both || d.A.Only != want[0] || d.B.Only != want[1] || d.A.Distinct != int64(len(sides[0])) {
			t.Errorf("seed %d: %d in both, %d and %d alone, want %d, %d, %d", seed, d.Both, d.A.Only, d.B.Only, both, want[0], want[1])
		}
	}
}

const (
	idA = "6592008029c8c3e4dc762501"
	idB = "6592008029c8c3e4dc762502"
)

func TestCompareStops(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	a := []byte(idA + "\n" + idB + "\n")
	stop := errors.New("stop")
	if _, err := census.Compare(collect(t, a), collect(t, []byte(strings.Repeat(idA+"\n", 1+random.IntN(3)))), func(bool, objectid.ID, bool) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Compare: %v, want the error of its function", err)
	}
}

// TestCompareTypes holds that an ObjectId and a string of its digits are different values, except
// where a format has no types, and that other values are counted.
func TestCompareTypes(t *testing.T) {
	a, b := `{"_id":{"$oid":"`+idA+`"}}`+"\n", `{"_id":{"$oid":"`+idB+`"}}`+"\n"
	textA, textB := `{"_id":"`+idA+`"}`+"\n", `{"_id":"`+idB+`"}`+"\n"
	for _, test := range []struct {
		name, a, b                  string
		both, onlyA, onlyB, retyped int64
		only                        string
	}{
		{"equal ObjectIds", a + b, b + a, 2, 0, 0, 0, ""},
		{"equal strings", textA + textB, textB + textA, 2, 0, 0, 0, ""},
		{"an import as strings", a + b, textA + textB, 0, 2, 2, 2, "< " + idA + ", < " + idB + ", > text " + idA + ", > text " + idB},
		{"strings on both sides, beside ObjectIds", a + textB, textA + textB, 1, 1, 1, 1, "< " + idA + ", > text " + idA},
		{"each type on each side", a + textB, textA + b, 0, 2, 2, 2, "< " + idA + ", < text " + idB + ", > " + idB + ", > text " + idA},
		{"both types on one side", a + textA, a, 1, 1, 0, 0, "< text " + idA},
		{"other ids as strings", a, textB, 0, 1, 1, 0, "< " + idA + ", > text " + idB},
		{"strings and a list", textA, idA + "\n" + idB + "\n", 1, 0, 1, 0, "> " + idB},
		{"a list and ObjectIds", idA + "\n", a, 1, 0, 0, 0, ""},
	} {
		var only []string
		d, err := census.Compare(collect(t, []byte(test.a)), collect(t, []byte(test.b)), func(inA bool, id objectid.ID, isString bool) error {
			text := "> "
			if inA {
				text = "< "
			}
			if isString {
				text += "text "
			}
			only = append(only, text+id.String())
			return nil
		})
		for _, e := range append(d.A.Examples, d.B.Examples...) {
			if isString := strings.Contains(test.only, "text "+e.ID.String()); e.Note == "a string" != isString && test.onlyA+test.onlyB == 1 {
				t.Errorf("%s: the example %s is %q", test.name, e.ID, e.Note)
			}
		}
		slices.Sort(only)
		if got := strings.Join(only, ", "); err != nil || d.Both != test.both || d.A.Only != test.onlyA || d.B.Only != test.onlyB || d.Retyped != test.retyped || got != test.only || d.A.Others+d.B.Others != 0 {
			t.Errorf("%s: %+v, %s, %v", test.name, d, got, err)
		}
	}
	// A source without documents does not give types to the ids of a list.
	list := collect(t, []byte(idA+"\n"))
	if err := list.Read(t.Context(), "empty", strings.NewReader("[]")); err != nil {
		t.Fatal(err)
	}
	if d, err := census.Compare(list, collect(t, []byte(textA)), nil); err != nil || d.Both != 1 || d.Retyped != 0 {
		t.Errorf("a list beside an empty array: %+v, %v", d, err)
	}
	var ten strings.Builder
	for i := range 10 {
		fmt.Fprintf(&ten, "%s%d\n", idA[:23], i)
	}
	if d, err := census.Compare(collect(t, []byte(ten.String())), collect(t, []byte(idA+"\n")), nil); err != nil || d.A.Only != 9 || len(d.A.Examples) != 6 {
		t.Errorf("ten ids and one: %+v, %v", d, err)
	}
	d, err := census.Compare(collect(t, []byte(textA+`{"_id":7}`+"\n")), collect(t, []byte(`{"x":1}`+"\n")), nil)
	if err != nil || d.A.Others != 1 || d.A.Unjudged != nil || d.B.Unjudged == nil {
		t.Errorf("%+v, %v", d, err)
	}
}
