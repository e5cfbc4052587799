package census_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// TestValuePerID counts ids that have a process value each: of one program that draws
// them, among those of other processes.
func TestValuePerID(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, test := range []struct{ program, others, seconds, want int }{
		{0, 20_000, 1_000_000, 0},
		{0, 300, 100, 0},
		{2, 300, 1_000_000, 0},
		{3, 300, 1_000_000, 3},
		{5, 20_000, 1_000_000, 5},
		{30_000, 0, 1_000_000, 30_000},
		{30_000, 5000, 1_000_000, 30_000},
	} {
		for seed := range testenv.Size[uint64](3, 10) {
			random := rand.New(rand.NewPCG(seed, 1))
			var ids []objectid.ID
			counter, second := random.IntN(wrap-test.program-1), random.IntN(test.seconds)
			for i := range test.program {
				ids = append(ids, made(random.Uint64N(1<<40), second+i/100, counter+i))
			}
			for range test.others {
				ids = append(ids, made(random.Uint64N(1<<40), random.IntN(test.seconds), random.IntN(wrap)))
			}
			random.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
			r := reportOf(t, ids, nil, nil)
			got := 0
			for _, f := range r.Findings {
				if f.Kind == census.KindValuePerID {
					got = int(f.Count)
					if len(f.Examples) != 2 {
						t.Errorf("%d examples", len(f.Examples))
					}
				}
			}
			if got < test.want*999/1000 || got > test.want+2 || test.want == 0 && got > 0 {
				t.Errorf("%d ids of a program, %d others, seed %d: found %d", test.program, test.others, seed, got)
			}
		}
	}
}

// TestOverflow counts ids of a process that creates more than 2^24 in a second, from
// which on they repeat, beside an id that occurs twice for another reason.
func TestOverflow(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for distinct, want := range map[int][]census.Kind{
		1 << 23:   {census.KindOverflow, census.KindDuplicate},
		1<<23 - 1: {census.KindDuplicate},
	} {
		i, n := 0, distinct+1000
		documents := &endless{size: (n + 2) * 22, fill: func(p []byte) int {
			k := 0
			for ; k+22 <= len(p) && i < n+2; k += 22 {
				d := p[k : k+22]
				copy(d, "\x16\x00\x00\x00\x07_id\x00\x65\x00\x00\x00\xaa\xbb\xcc\xdd\xee")
				c := uint32(i % distinct)
				if i >= n {
					c, d[12] = 7, 9 // two of another second
				}
				d[18], d[19], d[20] = byte(c>>16), byte(c>>8), byte(c)
				i++
			}
			return k
		}}
		c := census.New(nil)
		if err := c.Read(t.Context(), "documents", documents); err != nil {
			t.Fatal(err)
		}
		r, err := c.Report(nil)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if got := kinds(r); !slices.Equal(got, want) || r.Repeated != 1001 {
			t.Errorf("%d different ids in a second: %v, %d repeated, want %v", distinct, got, r.Repeated, want)
		}
		for _, f := range r.Findings {
			if f.Kind == census.KindOverflow && f.Count != 1000 || f.Kind == census.KindDuplicate && len(want) == 2 && (f.Count != 1 || f.Examples[0].ID[3] != 9) {
				t.Errorf("%+v", f)
			}
		}
	}
}
