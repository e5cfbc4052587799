package census

import (
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
	n := h.hours()
	if n == 0 {
		return r
	}
	hour := 0
	days := map[time.Time]int64{}
	var week [7 * 24]float64
	var seen [7 * 24]int
	for i := range n {
		k := h.hour(i)
		if k > h.hour(hour) {
			hour = i
		}
		t := h.minute(i * 60).In(zone)
		y, m, d := t.Date()
		days[time.Date(y, m, d, 0, 0, 0, 0, zone)] += k
		if imported[i] {
			continue
		}
		slot := (int(t.Weekday())+6)%7*24 + t.Hour()
		week[slot] += float64(k)
		seen[slot]++
	}
	var starts []time.Time
	for d := range days {
		starts = append(starts, d)
	}
	slices.SortFunc(starts, time.Time.Compare)
	day := starts[0]
	var counts []int64
	for _, d := range starts {
		if days[d] > days[day] {
			day = d
		}
		counts = append(counts, days[d])
	}
	r.Busiest = append(r.Busiest, Peak{Hour, h.minute(hour * 60).In(zone), h.hour(hour)}, Peak{Day, day, days[day]})
	const year = 365
	if n := len(counts); n >= 2*year {
		before, last := median(slices.Clone(counts[n-2*year:n-year])), median(slices.Clone(counts[n-year:]))
		if before > 0 {
			growth := float64(last)/float64(before) - 1
			r.Growth = &growth
		}
	}
	r.TypicalDay = median(counts)
	if n >= len(week) {
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
