package census

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A clock shows each minute of a history at its local time. Minutes that the clocks show twice
// are added, and minutes that they skip repeat the hour before.
func TestLocalMinutes(t *testing.T) {
	from := time.Date(2010, time.December, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "Antarctica/Troll"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		h := newHistory(secondRange{uint32(from.Unix()), uint32(from.AddDate(2, 0, 0).Unix())})
		random := rand.New(rand.NewPCG(1, 2))
		for i := range h.minutes {
			h.minutes[i] = max(random.Int32N(4)-1, 0)
		}
		c := h.clock(zone)
		want, next := make([]int32, c.at(len(h.minutes)-1)+1), c.at(0)
		for i, n := range h.minutes {
			at := c.at(i)
			for ; next < at; next++ {
				want[next] = want[next-60]
			}
			want[at] += n
			next = max(next, at+1)
		}
		if c.size != len(want) {
			t.Fatalf("%s: %d local minutes, want %d", name, c.size, len(want))
		}
		got := make([]int32, c.size)
		for i, n := range c.occupied {
			got[i] = n
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the minutes in order differ", name)
		}
		for range 100_000 {
			if i := random.IntN(c.size); c.minute(i) != want[i] {
				t.Fatalf("%s: minute %d has %d ids, want %d", name, i, c.minute(i), want[i])
			}
		}
	}
}
