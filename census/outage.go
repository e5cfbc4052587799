package census

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
)

// A silence is a time without ids. An outage is a silence that the rhythm of the collection
// does not explain.
//
// The history is divided into buckets of one length, for each of several lengths (see
// grid.go). Jobs and shops create ids in nearly all buckets of some length, or in nearly all
// buckets at the same time of the day or week. The worth of an empty bucket is -ln of the
// fraction of similar buckets that are empty; it is less if the rest of the day has fewer ids
// than usual. The worth of a silence is the sum of its buckets. Its score is the worth minus
// the logarithm of the number of occupied buckets. Chance causes a silence of score x in one
// of e^x histories.
const (
	// outageMargin is the least score of an outage. Chance reaches it in one of a hundred
	// histories. Outages are likely from likelyMargin on, and certain from certainMargin on.
	outageMargin  = 4.6
	likelyMargin  = 7
	certainMargin = 12

	// minOccupied is the least fraction of occupied buckets, before and after a silence, in
	// a grid that can judge it.
	minOccupied = 0.1

	// maxSilent is the most buckets of a silence in one grid. Grids with longer buckets
	// judge longer silences.
	maxSilent = 1000

	// minWorth is the least worth of a silence that is compared with others.
	minWorth = 2

	// maxExceptions is the most silences that can be exceptional; if there are many
	// silences, it is a hundredth of them.
	maxExceptions = 3
)

// silence is a time without ids.
type silence struct {
	from, to int           // minutes of the history
	worth    float64       // see above; days with few ids count as usual days
	score    float64       // see above
	expected float64       // how many ids there usually are in that time
	usual    func() string // returns Event.Usual
}

// silent yields each period of two minutes or more without an id, as the indexes of its first
// minute and of the minute after its last.
func (h *history) silent() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i := 0; i < len(h.minutes); i++ {
			from := i
			for i < len(h.minutes) && h.minutes[i] == 0 {
				i++
			}
			if from > 0 && i < len(h.minutes) && i-from > 1 && !yield(from, i) {
				return
			}
		}
	}
}

// outages returns the outages. A silence in which the counters continued was not an outage:
// all ids of that time were deleted, so it is returned as a deletion. shortest is how long a
// silence must be to count as an outage, in the busiest and in the quietest hours of the week.
func (h *history) outages(zone *time.Location) (out []Event, shortest [2]time.Duration) {
	if len(h.minutes) == 0 {
		return nil, shortest
	}
	c := h.clock(zone)
	minutes := c.newGrid(bucketLengths[0], 0)
	long := 0
	for from, to := range h.silent() {
		if to-from >= bucketLengths[1] {
			long++
		}
	}
	silences, odd := make([]silence, 0, long), []silence(nil)
	for from, to := range h.silent() {
		worth, one, isOdd := minutes.weigh(from, to)
		if isOdd {
			odd = append(odd, one)
		}
		if worth > 0 || to-from >= bucketLengths[1] { // millions of short silences have no worth
			silences = append(silences, silence{from: from, to: to, worth: worth})
		}
	}
	hours := make([]time.Duration, minutesPerWeek/60)
	for _, length := range bucketLengths {
		for half := range 2 {
			g := minutes
			if length > bucketLengths[0] {
				g, odd = c.newGrid(length, half*length/2), nil
				for k, s := range silences {
					worth, one, isOdd := g.weigh(s.from, s.to)
					if silences[k].worth = max(s.worth, worth); isOdd {
						odd = append(odd, one)
					}
				}
			}
			if len(g.seasons) > 0 {
				g.judge(odd, silences)
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
		case i >= exceptional: // a possible one: the collection has silences of all lengths
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

// weigh returns the worth of the silence of some minutes of the history if its days had as many
// ids as usual, the silence as this grid sees it, and whether it may be exceptional.
func (g *grid) weigh(from, to int) (worth float64, s silence, isOdd bool) {
	if len(g.seasons) == 0 || to-from < g.length {
		return 0, s, false
	}
	a, b := g.bucket(g.c.at(from)-1)+1-g.first, g.bucket(g.c.at(to-1)+1)-g.first
	if a >= b || b-a > maxSilent {
		return 0, s, false
	}
	chance := math.Log(float64(g.occupied))
	x, raw, expected, usual := g.score(a, b)
	return raw, silence{from, to, x, x - chance, expected, usual}, x >= chance/2
}

// judge gives each of the silences its score in a grid, if it is exceptional in this grid and if
// the score is higher than those from other grids. all has the silences that may be exceptional.
func (g *grid) judge(all, silences []silence) {
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

// exceptions returns how many of the first silences are exceptional: worth much more than the
// next ones let expect. s must be sorted by worth, greatest first. The logarithms of the
// greatest worths are assumed to have an exponential distribution, as with a heavy tail. Its
// mean is estimated from s.
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

// yearly reports whether there is a similar silence a year before or after s, such as a
// holiday. Silences of less than a day are never yearly.
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

// score judges the silence of the buckets from a to b. It returns x, the worth of the silence;
// raw, the worth if its days had as many ids as usual; the expected number of ids; and a
// function that returns Event.Usual. All are zero if the grid cannot judge the silence.
func (g *grid) score(a, b int) (x, raw, expected float64, usual func() string) {
	all := g.around(&g.seasons[0], a, a, b)
	before, after := all.beside(g.near(1, b-a))
	if before.n < 2 || after.n < 2 || before.occupied() < minOccupied || after.occupied() < minOccupied {
		return 0, 0, 0, nil
	}
	s := g.season(a, b)
	rare, best := make([]float64, b-a), 0
	alike := s.alike
	for i := a; i < b; i++ {
		if s.mostly[i%s.period] {
			alike.n--
			if g.count(i) == 0 { // shortest asks about silences that did not happen
				alike.empty--
			}
		}
	}
	near := g.near(s.period, b-a)
	for i := range rare {
		if i < s.period {
			kind := g.around(s, a+i, a, b)
			rare[i] = kind.rare(near, alike)
		} else {
			rare[i] = rare[i-s.period] // the same kind
		}
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
			kind := g.around(s, i, a, b)
			missing += g.mean(&kind)
		}
		expected += missing
		f := g.level(day, s, missing)
		mean := missing / float64(i-from)
		for k := from; k < i; k++ {
			x += min(rare[k-a], f*max(mean, rare[k-a]))
		}
	}
	kind := g.around(s, a+best, a, b)
	before, after = kind.beside(g.size)
	return x, raw, expected, func() string { return g.describe(s, before.n+after.n, before.empty+after.empty) }
}

// describe returns a sentence such as "all 212 other days have ids". n is the number of other
// buckets and empty the number of empty ones among them.
func (g *grid) describe(s *season, n, empty int) string {
	units := map[int]string{1: "minutes", 10: "periods of ten minutes", 60: "hours", minutesPerDay: "days", minutesPerWeek: "weeks", 2 * minutesPerWeek: "periods of two weeks", minutesPerMonth: "months"}
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

// shortest sets, for hours of the week that are still 0, how long a silence must be to be an
// outage. It tries silences in the week in the middle of the history.
func (g *grid) shortest(hours []time.Duration) {
	const every = 3 // hours
	middle := len(g.c.tens) * 10 / 2 / minutesPerWeek * minutesPerWeek
	chance := math.Log(float64(g.occupied))
	for h := 0; h < len(hours); h += every {
		a := g.bucket(middle+h*60) - g.first
		for n := 1; hours[h] == 0 && n <= 60 && a >= 0 && a+n < g.size; n += (n + 3) / 4 {
			if x, _, _, _ := g.score(a, a+n); x >= chance+outageMargin {
				hours[h] = time.Duration(n*g.length) * time.Minute
			}
		}
	}
}
