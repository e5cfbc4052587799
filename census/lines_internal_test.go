package census

import (
	"testing"

	"github.com/oidkit/oid/census/internal/idset"
)

// A counter that runs through half of its range in a second is none, unless a quarter of
// its counters, or more, are ids.
func TestJudgePace(t *testing.T) {
	for _, c := range []struct {
		racing, ids int64
		found       bool
	}{
		{3, 40, true},
		{2, 40, false},
		{3, 3*idset.CounterRange/8 - 1, true},
		{3, 3 * idset.CounterRange / 8, false},
	} {
		var v verdict
		v.judgePace(&lineSet{list: []line{{ids: 1}, {racing: c.racing, ids: c.ids}}}, 1)
		if found := v.found[noSequence].bits == maxBits; found != c.found {
			t.Errorf("%d seconds, %d ids: found %v, want %v", c.racing, c.ids, found, c.found)
		}
	}
}
