package census

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
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

// A longer season must describe the buckets clearly better than a shorter one: otherwise chance
// makes a rhythm of a fortnight out of quiet hours in an office, and outages out of other ones.
func TestQuietHoursAreNoSeason(t *testing.T) {
	outages := 0
	for seed := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, 5))
		from := time.Date(2020, time.January, 6, 0, 0, 0, 0, time.UTC)
		days := 60 + random.IntN(300)
		h := newHistory(secondRange{uint32(from.Unix()), uint32(from.AddDate(0, 0, days).Unix()) - 1})
		for day := range days {
			for hour := 9; hour < 18 && day%7 < 5; hour++ {
				if random.IntN(40) == 0 {
					continue
				}
				for part := 0.7; part > 0 && random.Float64() < part; part -= 0.9 * random.ExpFloat64() {
					h.minutes[(day*24+hour)*60+random.IntN(60)]++
				}
			}
		}
		found, _ := h.outages(time.UTC)
		outages += len(found)
	}
	if outages > 3 {
		t.Errorf("%d outages in 120 histories without one, want at most 3", outages)
	}
}
