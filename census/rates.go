package census

import (
	"cmp"
	"slices"
	"time"
)

// Rates are how many ids are created in which time.
type Rates struct {
	// Busiest are the hour and the day with the most ids; nothing without ids.
	Busiest []Peak
	// TypicalDay is the median of all days from the first to the last id.
	TypicalDay int64
	// Growth is the change of the typical day from the year before the last one to the
	// last one: 0.25 is a quarter more. It is nil for less than two years.
	Growth *float64
	// Week is the mean number of ids in each hour of the week, from Monday 00:00 in the
	// timeline's zone. It is empty for less than a week.
	Week []float64
	// ShortestOutage is how long a silence in the busiest and in the quietest hours of
	// the week must be to be told from chance; zero if that is not known. It is set by
	// the report.
	ShortestOutage [2]time.Duration
}

// Peak is the time with the most ids.
type Peak struct {
	Length Step
	Start  time.Time
	IDs    int64
}

// rates returns the rates of a history in a zone. What was imported is not part of the
// usual week.
func (h *history) rates(zone *time.Location, events []Event) Rates {
	imported := map[int]bool{} // hours
	for _, e := range events {
		if e.Kind == Import {
			for t := int(e.Start.Unix() - int64(h.from)); t <= int(e.End.Unix()-int64(h.from)); t += secondsPerMinute {
				imported[t/secondsPerHour] = true
			}
		}
	}
	r := Rates{Busiest: []Peak{}, Week: []float64{}}
	if h.hours() == 0 {
		return r
	}
	var hours, days []Peak
	var week [7 * 24]float64
	var seen [7 * 24]int
	for i := range h.hours() {
		t, n := h.minute(i*60).In(zone), h.hour(i)
		hours = append(hours, Peak{Hour, t, n})
		y, m, d := t.Date()
		if k := len(days); k == 0 || days[k-1].Start.Day() != d {
			days = append(days, Peak{Day, time.Date(y, m, d, 0, 0, 0, 0, zone), 0})
		}
		days[len(days)-1].IDs += n
		if !imported[i] {
			slot := (int(t.Weekday())+6)%7*24 + t.Hour()
			week[slot] += float64(n)
			seen[slot]++
		}
	}
	var counts []int64
	for _, d := range days {
		counts = append(counts, d.IDs)
	}
	byIDs := func(a, b Peak) int { return cmp.Compare(a.IDs, b.IDs) }
	r.Busiest = append(r.Busiest, slices.MaxFunc(hours, byIDs), slices.MaxFunc(days, byIDs))
	const year = 365
	if n := len(counts); n >= 2*year {
		before, last := median(slices.Clone(counts[n-2*year:n-year])), median(slices.Clone(counts[n-year:]))
		if before > 0 {
			growth := float64(last)/float64(before) - 1
			r.Growth = &growth
		}
	}
	r.TypicalDay = median(counts)
	if len(hours) >= len(week) {
		for i := range week {
			week[i] /= float64(max(seen[i], 1))
		}
		r.Week = week[:]
	}
	return r
}

// alive returns how many processes were alive in each bucket of the axis.
func (h *history) alive(a *axis) []int64 {
	out := make([]int64, a.buckets())
	if h.hours() == 0 {
		return out
	}
	var now int64
	for i := range h.hours() {
		now += int64(h.begun[i])
		if b, _ := a.bucket(h.from + uint32(i)*secondsPerHour + secondsPerHour - 1); b >= 0 {
			out[b] = max(out[b], now)
		} else if b, _ := a.bucket(h.from + uint32(i)*secondsPerHour); b >= 0 {
			out[b] = max(out[b], now)
		}
		now -= int64(h.ended[i])
	}
	return out
}
