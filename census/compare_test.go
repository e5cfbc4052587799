package census_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
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
		d, err := census.Compare(collect(t, []byte(texts[0].String())), collect(t, []byte(texts[1].String())), func(inA bool, id objectid.ID) error {
			if sides[0][id] != inA || sides[1][id] == inA {
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
	if _, err := census.Compare(collect(t, a), collect(t, []byte(strings.Repeat(idA+"\n", 1+random.IntN(3)))), func(bool, objectid.ID) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Compare: %v, want the error of its function", err)
	}
}

// TestCompareStrings compares ids that are strings, where there are no ObjectIds, and says
// how many other values are not compared.
func TestCompareStrings(t *testing.T) {
	d, err := census.Compare(collect(t, []byte(`{"_id":"`+idA+`"}`+"\n"+`{"_id":7}`+"\n")), collect(t, []byte(idA+"\n"+idB+"\n")), nil)
	if err != nil || d.Both != 1 || d.A.Only != 0 || d.B.Only != 1 || d.A.Others != 1 || d.B.Others != 0 || d.A.Sources[0].IDs != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}
