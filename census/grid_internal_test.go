package census

import (
	"strings"
	"testing"
)

// An empty bucket is unusual only if the buckets of its kind on both sides tell how often they are
// empty. The whole history tells more than the buckets near the silence.
func TestRareBuckets(t *testing.T) {
	many := strings.Repeat("1", 200)
	for _, test := range []struct {
		name          string
		before, after string // buckets, 1 for those with ids
		alike         side
		least, most   float64
	}{
		{"none before", "", many, side{1000, 0}, 0, 0},
		{"one before", "1", many, side{1000, 0}, 0, 0},
		{"two before", "11", many, side{1000, 0}, 7, 8},
		{"one after", many, "1", side{1000, 0}, 0, 0},
		{"two after", many, "11", side{1000, 0}, 7, 8},
		{"only empty ones before", "........", many, side{1000, 0}, 0, 0},
		{"others are empty at times", "11111111", "11111111", side{1000, 20}, 3.8, 4},
		{"others are, but never these", many, many, side{1000, 20}, 6.5, 7},
		{"these are as well", many + "1.", many, side{1000, 20}, 2, 2.1},
	} {
		g := &grid{length: 60}
		for _, bucket := range test.before + "." + test.after {
			n := int64(0)
			if bucket == '1' {
				n = 1
			}
			g.ids = append(g.ids, n)
		}
		g.size = len(g.ids)
		g.addSeason(1)
		a := len(test.before)
		r := g.around(&g.seasons[0], a, a, a+1)
		if got := r.rare(8, test.alike); got < test.least || got > test.most {
			t.Errorf("%s: %v, want %v to %v", test.name, got, test.least, test.most)
		}
	}
}
