package census

import (
	"cmp"
	"slices"
	"time"
)

// Rates are how many ids are created in which time.
type Rates struct {
	// TypicalDay is the median of all days from the first to the last id.
	TypicalDay int64
	// BusiestDay is the day with the most ids, in the timeline's zone.
	BusiestDay Bucket
	// ShortestOutage is how long a silence in the busiest and in the quietest hours of
	// the week must be to be told from chance; zero if that is not known.
	ShortestOutage [2]time.Duration
}

// rates returns the rates of a history in a zone, given the shortest outage.
func (h *history) rates(zone *time.Location, shortest [2]time.Duration) Rates {
	r := Rates{ShortestOutage: shortest}
	var days []Bucket
	for i := range h.hours() {
		y, m, d := h.minute(i * 60).In(zone).Date()
		if k := len(days); k == 0 || days[k-1].Start.Day() != d {
			days = append(days, Bucket{Start: time.Date(y, m, d, 0, 0, 0, 0, zone)})
		}
		days[len(days)-1].IDs += h.hour(i)
	}
	if len(days) > 0 {
		slices.SortStableFunc(days, func(a, b Bucket) int { return cmp.Compare(a.IDs, b.IDs) })
		r.TypicalDay, r.BusiestDay = days[len(days)/2].IDs, days[len(days)-1]
	}
	return r
}
