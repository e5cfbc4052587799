package census

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTop keeps the processes with the most ids, of some in every order and of all.
func TestTop(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []int{0, 1, 2, 10} {
		for n := range 50 {
			top := tally{limit: limit}
			for _, k := range random.Perm(n) {
				top.list(&process{value: uint64(k), ids: int64(k / 2), timeline: []int64{}})
			}
			top.sortTop()
			var got, want []uint64
			for _, p := range top.top {
				got = append(got, p.value)
			}
			for k := n - 1; k >= 0; k-- {
				want = append(want, uint64(k))
			}
			// Of two with as many ids the lower value comes first.
			slices.SortStableFunc(want, func(a, b uint64) int {
				if a/2 == b/2 {
					return int(a) - int(b)
				}
				return 0
			})
			if limit > 0 {
				want = want[:min(limit, n)]
			}
			if !slices.Equal(got, want) {
				t.Errorf("limit %d of %d: %v, want %v", limit, n, got, want)
			}
		}
	}
}
