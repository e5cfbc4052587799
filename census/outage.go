package census

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// An outage is a silence that the rhythm of the collection does not explain.
//
// The history is divided into buckets of one length, for each of several lengths (see
// grid.go). A job or a shop has ids in nearly all buckets of some length, or in nearly
// all of those at the same time of the day or the week. An empty bucket is worth the
// logarithm of how rarely others like it are empty, less if the rest of its day has
// fewer ids than usual. The score of a silence is the sum over its buckets, less the
// logarithm of how many buckets have ids: chance makes one of score x in e^x histories.
const (
	// outageMargin is the least score of an outage: chance makes one in a hundred
	// histories. Outages of less than likelyMargin are possible, those of certainMargin
	// certain.
	outageMargin  = 4.6
	likelyMargin  = 7
	certainMargin = 12

	// minOccupied is the part of the buckets beside a silence that have ids, on both
	// sides, in a division that shows it.
	minOccupied = 0.1

	// maxSilent is of how many buckets a silence is judged. Longer ones are judged in
	// longer buckets.
	maxSilent = 1000

	// minWorth is what a silence is worth at least that is compared with others.
	minWorth = 2

	// maxExceptions is how many silences, or a hundredth of them, can be exceptions.
	maxExceptions = 3
)

// silence is a time without ids, in minutes of the history.
type silence struct {
	from, to int
	worth    float64 // before chance is taken off; in the end, on usual days
	score    float64
	expected float64 // ids
	usual    func() string
}

// outages returns the silences that the rhythm of the collection does not explain, and
// the deletions of all ids of a time, in which the counters went on; and how long a
// silence must be, in the busiest and in the quietest hours of the week.
func (h *history) outages(zone *time.Location) (out []Event, shortest [2]time.Duration) {
	if len(h.minutes) == 0 {
		return nil, shortest
	}
	var silences []silence
	for i := 0; i < len(h.minutes); i++ {
		from := i
		for i < len(h.minutes) && h.minutes[i] == 0 {
			i++
		}
		if from > 0 && i < len(h.minutes) && i-from > 1 {
			silences = append(silences, silence{from: from, to: i})
		}
	}
	c := h.clock(zone)
	hours := make([]time.Duration, minutesPerWeek/60)
	for _, length := range bucketLengths {
		for half := range 2 {
			if g := c.newGrid(length, half*length/2); len(g.seasons) > 0 {
				g.judge(silences)
				if half == 0 {
					g.shortest(hours)
				}
			}
			if length < 60 {
				break
			}
		}
	}
	if known := slices.DeleteFunc(hours, func(d time.Duration) bool { return d == 0 }); len(known) > 0 {
		shortest = [2]time.Duration{slices.Min(known), slices.Max(known)}
	}
	silences = slices.DeleteFunc(silences, func(s silence) bool { return s.worth == 0 })
	slices.SortStableFunc(silences, func(a, b silence) int { return cmp.Compare(b.worth, a.worth) })
	exceptional := exceptions(silences)
	for i, s := range silences {
		if s.score < outageMargin {
			continue
		}
		e := Event{Kind: KindOutage, Start: h.minute(s.from), End: h.minute(s.to), Size: int64(s.expected), Usual: s.usual(), Confidence: ConfidencePossible}
		switch {
		case i >= exceptional: // silences of other lengths have such a tail
		case s.score >= certainMargin:
			e.Confidence = ConfidenceCertain
		case s.score >= likelyMargin:
			e.Confidence = ConfidenceLikely
		}
		var missing int64
		for hour := s.from / 60; hour <= (s.to-1)/60; hour++ {
			missing += h.gaps[hour]
		}
		if float64(missing) > s.expected/2 && s.to-s.from >= 60 {
			e.Kind, e.Size, e.Share, e.Confidence, e.Usual = KindDeletion, missing, 1, ConfidenceLikely, ""
		}
		out = append(out, e)
	}
	return out, shortest
}

// judge gives silences their scores in a grid, if these are higher and the silences are
// exceptions in it.
func (g *grid) judge(silences []silence) {
	var all []silence
	chance := math.Log(float64(g.occupied))
	for k, s := range silences {
		if s.to-s.from < g.length {
			continue
		}
		a, b := g.bucket(g.c.at(s.from)-1)+1-g.first, g.bucket(g.c.at(s.to-1)+1)-g.first
		if a >= b || b-a > maxSilent {
			continue
		}
		x, raw, expected, usual := g.score(a, b)
		if silences[k].worth = max(s.worth, raw); x >= chance/2 {
			all = append(all, silence{s.from, s.to, x, x - chance, expected, usual})
		}
	}
	all = slices.DeleteFunc(all, func(s silence) bool { return yearly(s, silences) })
	slices.SortStableFunc(all, func(a, b silence) int { return cmp.Compare(b.worth, a.worth) })
	for _, s := range all[:exceptions(all)] {
		k, _ := slices.BinarySearchFunc(silences, s.from, func(o silence, from int) int { return o.from - from })
		if old := &silences[k]; s.score > old.score {
			s.worth = old.worth
			*old = s
		}
	}
}

// exceptions returns how many of the silences, which are ordered by what they are worth,
// are worth so much more than the next ones that these have no such tail. The logarithms
// of the largest are taken to be exponential, as those of gaps with a heavy tail are,
// with a mean that these silences show.
func exceptions(s []silence) (n int) {
	for k := 1; k <= len(s) && k <= max(maxExceptions, len(s)/100); k++ {
		if k == len(s) {
			return k
		}
		last, rest := s[k-1].worth, s[k:]
		m := 0
		for m < len(rest) && rest[m].worth >= rest[0].worth/8 {
			m++
		}
		top := int(math.Sqrt(float64(m)))
		if top < 2 {
			if last >= 2*rest[0].worth {
				n = k
			}
			continue
		}
		logs := 0.
		for _, r := range rest[:top] {
			logs += math.Log(r.worth / rest[top].worth)
		}
		if float64(top)*math.Log1p(math.Log(last/rest[0].worth)/logs) >= outageMargin {
			n = k
		}
	}
	return n
}

// yearly reports whether a silence of a day or more has a similar one a year before or
// after it.
func yearly(s silence, others []silence) bool {
	if s.to-s.from < minutesPerDay {
		return false
	}
	const year = 365*minutesPerDay + 6*60
	near := max(s.to-s.from, 2*minutesPerDay) / 2
	return slices.ContainsFunc(others, func(o silence) bool {
		apart := (s.from + s.to - o.from - o.to) / 2
		apart = max(apart, -apart)
		return max(apart-year, year-apart) <= near && 2*o.worth >= s.worth && 3*(o.to-o.from) >= 2*(s.to-s.from)
	})
}

// score returns what the silence of the buckets from a to b is worth, and would be on
// usual days, how many ids were expected, and what is usual.
func (g *grid) score(a, b int) (x, raw, expected float64, usual func() string) {
	before, after := g.beside(&g.seasons[0], a, a, b, g.near(1, b-a))
	if before.n < 2 || after.n < 2 || before.occupied() < minOccupied || after.occupied() < minOccupied {
		return 0, 0, 0, nil
	}
	s := g.season(a, b)
	rare, best := make([]float64, b-a), 0
	alike := s.alike
	for i := a; i < b; i++ {
		if s.mostly[i%s.period] {
			alike.n--
			if g.ids[i] == 0 { // not all are, where a silence is only supposed
				alike.empty--
			}
		}
	}
	for i := range rare {
		rare[i] = g.rare(s, a+i, a, b, alike)
		if x += rare[i]; rare[i] > rare[best] {
			best = i
		}
	}
	if x < minWorth {
		return 0, 0, 0, nil
	}
	x, raw = 0, x
	for i := a; i < b; {
		from, day, missing := i, g.day(i), 0.
		for ; i < b && g.day(i) == day; i++ {
			missing += g.mean(s, i, a, b)
		}
		expected += missing
		f := g.level(day, s, missing)
		mean := missing / float64(i-from)
		for k := from; k < i; k++ {
			x += min(rare[k-a], f*max(mean, rare[k-a]))
		}
	}
	before, after = g.beside(s, a+best, a, b, len(g.ids))
	return x, raw, expected, func() string { return g.describe(s, before.n+after.n, before.empty+after.empty) }
}

// describe returns how many of n buckets have ids.
func (g *grid) describe(s *season, n, empty int) string {
	units := map[int]string{1: "minutes", 10: "ten minutes", 60: "hours", minutesPerDay: "days", minutesPerWeek: "weeks", 2 * minutesPerWeek: "second weeks", minutesPerMonth: "months"}
	unit, at := units[g.length], ""
	if s.period > 1 {
		unit, at = units[s.period*g.length], " at that time"
	}
	part := "all"
	if empty > 0 {
		part = fmt.Sprint(n-empty, " of")
	}
	return fmt.Sprintf("%s %d other %s have ids%s", part, n, unit, at)
}

// shortest sets how long a silence must be in the hours of the week in the middle of the
// history, for those of which it is not known.
func (g *grid) shortest(hours []time.Duration) {
	const every = 3 // hours
	middle := len(g.c.tens) * 10 / 2 / minutesPerWeek * minutesPerWeek
	chance := math.Log(float64(g.occupied))
	for h := 0; h < len(hours); h += every {
		a := g.bucket(middle+h*60) - g.first
		for n := 1; hours[h] == 0 && n <= 60 && a >= 0 && a+n < len(g.ids); n += (n + 3) / 4 {
			if x, _, _, _ := g.score(a, a+n); x >= chance+outageMargin {
				hours[h] = time.Duration(n*g.length) * time.Minute
			}
		}
	}
}
