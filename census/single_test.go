package census_test

import (
	"math/rand/v2"
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
