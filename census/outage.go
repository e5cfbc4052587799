package census

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// An outage is a silence that the rhythm of the collection does not explain. The history
// is divided into buckets of one length: a job or a shop of that rhythm has ids in most
// of them, or in most of those at the same time of the day or the week. Each empty bucket
// of a silence is worth the logarithm of how rarely others of its kind are empty. What a
// silence is worth, less the logarithm of how many buckets have ids, is its score: the
// logarithm of how many such histories have one by chance.

// The lengths of buckets, in minutes, and the seasons in which buckets are alike.
var (
	bucketLengths = [...]int{1, 10, 60, minutesPerDay, minutesPerWeek, 0} // 0: a month
	seasonLengths = [...]int{minutesPerDay, minutesPerWeek, 2 * minutesPerWeek}
)

const (
	minutesPerDay  = 24 * 60
	minutesPerWeek = 7 * minutesPerDay

	// outageMargin is the score of an outage: chance makes one in a hundred histories.
	outageMargin  = 4.6
	likelyMargin  = 7
	certainMargin = 12

	// seasonPeriods are how many periods on each side tell what is usual at least.
	seasonPeriods = 8

	// seasonMargin, and the part seasonShare, is what a longer season must save of the
	// code of what is occupied.
	seasonMargin = 3
	seasonShare  = 0.02

	// minOccupied is the part of the buckets beside a silence that have ids, in a
	// division that tells of it.
	minOccupied = 0.1
)

// grid is a history in buckets of one length.
type grid struct {
	length   int     // minutes; 0: months
	shift    int     // minutes before the first bucket's end, from the start of the clock
	starts   []int   // of months
	ids      []int64 // by bucket; the first and the last are not empty
	first    int     // bucket of ids[0]
	occupied int
	c        *clock
	seasons  []season
	chosen   map[int]int // seasons by week
}

// season is how many buckets of a kind are occupied: sums[i+period] those at i, i-period...
type season struct {
	period int
	sums   []int32
	alike  side   // the buckets of the kinds that are mostly occupied
	mostly []bool // which these are
}

// clock is a history by the clock of a zone, from a Monday at midnight.
type clock struct {
	days    []int64
	minutes []int32
	start   time.Time       // of the minutes, in UTC, with the offset of the zone added
	at      func(i int) int // minute of the clock at minute i of the history
}

func (h *history) clock(zone *time.Location) *clock {
	offsets := make([]int, h.hours()) // minutes
	for i := range offsets {
		_, seconds := h.minute(i * 60).In(zone).Zone()
		offsets[i] = seconds / 60
	}
	start := int(h.from)/60 + offsets[0]
	const monday = 4 * minutesPerDay // of 1970
	pad := (start - monday) % minutesPerWeek
	c := &clock{start: time.Unix(int64(start-pad)*60, 0).UTC(), at: func(i int) int { return pad + i + offsets[i/60] - offsets[0] }}
	c.minutes = make([]int32, c.at(len(h.minutes)-1)+1)
	before := -1
	for i, n := range h.minutes {
		at := c.at(i)
		for ; before >= 0 && before+1 < at; before++ { // an hour that was left out
			c.minutes[before+1] = c.minutes[before+1-60]
		}
		c.minutes[at] += n
		before = max(before, at)
	}
	c.days = make([]int64, (len(c.minutes)-1)/minutesPerDay+1)
	for i, n := range c.minutes {
		c.days[i/minutesPerDay] += int64(n)
	}
	return c
}

// bucket returns the bucket of a minute of the clock.
func (g *grid) bucket(minute int) int {
	if g.length > 0 {
		return (minute + g.shift) / g.length
	}
	i, found := slices.BinarySearch(g.starts, minute)
	if !found {
		i--
	}
	return i
}

// newGrid returns the history of c in buckets of length minutes.
func (c *clock) newGrid(length, shift int) *grid {
	g := &grid{c: c, length: length, shift: shift, chosen: map[int]int{}}
	if length == 0 {
		end := c.start.Add(time.Duration(len(c.minutes)) * time.Minute)
		for t := time.Date(c.start.Year(), c.start.Month(), 1+shift, 0, 0, 0, 0, time.UTC); t.Before(end); t = t.AddDate(0, 1, 0) {
			g.starts = append(g.starts, int(t.Sub(c.start)/time.Minute))
		}
		if g.starts[0] > 0 {
			g.starts = slices.Insert(g.starts, 0, 0)
		}
	}
	first := slices.IndexFunc(c.minutes, func(n int32) bool { return n > 0 })
	last := len(c.minutes) - 1
	for last > 0 && c.minutes[last] == 0 {
		last--
	}
	g.first = g.bucket(first)
	g.ids = make([]int64, g.bucket(last)-g.first+1)
	if length > 0 {
		left, b := length-(first+shift)%length, 0
		for _, n := range c.minutes[first : last+1] {
			g.ids[b] += int64(n)
			if left--; left == 0 {
				left, b = length, b+1
			}
		}
	} else {
		for i := first; i <= last; i++ {
			g.ids[g.bucket(i)-g.first] += int64(c.minutes[i])
		}
	}
	for _, n := range g.ids {
		if n > 0 {
			g.occupied++
		}
	}
	if float64(g.occupied) < minOccupied/5*float64(len(g.ids)) {
		return g
	}
	periods := []int{1}
	for _, s := range seasonLengths {
		if length > 0 && s > length && (s <= minutesPerWeek || length == minutesPerWeek) {
			periods = append(periods, s/length)
		}
	}
	for _, p := range periods {
		if 4*p > len(g.ids) {
			break
		}
		sums := make([]int32, len(g.ids)+p)
		for i, n := range g.ids {
			sums[i+p] = sums[i]
			if n > 0 {
				sums[i+p]++
			}
		}
		one := season{period: p, sums: sums, mostly: make([]bool, p)}
		for i := range p {
			if _, all := g.beside(&one, i, 0, 0, len(g.ids)); 4*all.empty < all.n {
				one.mostly[i] = true
				one.alike.n += all.n
				one.alike.empty += all.empty
			}
		}
		g.seasons = append(g.seasons, one)
	}
	return g
}

// side is some buckets of a kind: how many there are, and how many are empty.
type side struct{ n, empty int }

// beside returns the buckets of the kind of i before a and from b on, up to periods of
// them on each side.
func (g *grid) beside(s *season, i, a, b, periods int) (before, after side) {
	p := s.period
	if last := a - 1 - ((a-1-i)%p+p)%p; last >= 0 {
		n := min(last/p+1, periods)
		before = side{n, n - int(s.sums[last+p]-s.sums[last-(n-1)*p])}
	}
	if next := b + ((i-b)%p+p)%p; next < len(g.ids) {
		n := min((len(g.ids)-1-next)/p+1, periods)
		after = side{n, n - int(s.sums[next+n*p]-s.sums[next])}
	}
	return before, after
}

// mean returns how many ids the buckets of the kind of i have on average, on the side
// with less.
func (g *grid) mean(s *season, i, a, b int) float64 {
	p := s.period
	const most = 2 * seasonPeriods
	var sums [2]int64
	var ns [2]int
	for k := a - 1 - ((a-1-i)%p+p)%p; k >= 0 && ns[0] < most; k -= p {
		sums[0] += g.ids[k]
		ns[0]++
	}
	for k := b + ((i-b)%p+p)%p; k < len(g.ids) && ns[1] < most; k += p {
		sums[1] += g.ids[k]
		ns[1]++
	}
	return min(float64(sums[0])/float64(max(ns[0], 1)), float64(sums[1])/float64(max(ns[1], 1)))
}

// near returns how many periods on each side of a silence are near.
func (g *grid) near(s *season, length int) int {
	near := seasonPeriods * ((length + s.period - 1) / s.period)
	if g.length > 0 {
		near = max(near, minutesPerWeek/(g.length*s.period))
	}
	return near
}

// rare returns how rarely a bucket like i is empty: the logarithm of the part of those,
// negated.
func (g *grid) rare(s *season, i, a, b, near int) float64 {
	before, after := g.beside(s, i, a, b, near)
	if before.n < 2 || after.n < 2 || before.empty == before.n || after.empty == after.n {
		return 0
	}
	alike := s.alike
	for k := a; k < b; k++ {
		if s.mostly[k%s.period] {
			alike.n--
			alike.empty--
		}
	}
	miss := 1.
	for w := near; ; w *= 4 {
		x, y := g.beside(s, i, a, b, w)
		miss = min(miss, (float64(x.empty+y.empty)+0.5)/float64(x.n+y.n+1))
		miss = min(miss, max(float64(x.empty+y.empty)/float64(x.n+y.n), (float64(alike.empty)+0.5)/float64(alike.n+1)))
		if w > len(g.ids) {
			break
		}
	}
	miss = max(miss, float64(before.empty)/float64(before.n), float64(after.empty)/float64(after.n))
	return -math.Log(miss)
}

// season returns the season that tells most about what is occupied beside a silence.
func (g *grid) season(a, b int) *season {
	window := 8 * (b - a)
	key := -1
	if g.length > 0 {
		week := minutesPerWeek / g.length
		window = max(window, 8*week)
		if b-a <= week {
			key = a / max(week, 1)
		}
	}
	if i, ok := g.chosen[key]; ok && key >= 0 {
		return &g.seasons[i]
	}
	best, least := 0, math.Inf(1)
	for k := range g.seasons {
		s := &g.seasons[k]
		cost := 0.
		for i := a; i < a+s.period; i++ {
			x, y := g.beside(s, i, a, b, max(window/s.period, 1))
			cost += codeLength(x.empty+y.empty, x.n+y.n)
		}
		if k == 0 || cost+max(seasonMargin, seasonShare*cost) < least {
			best, least = k, cost
		}
	}
	if key >= 0 {
		g.chosen[key] = best
	}
	return &g.seasons[best]
}

// codeLength is how many nats tell which k of n are chosen, one after the other, if it is
// not known how likely that is.
func codeLength(k, n int) float64 {
	return logGamma(float64(n)+1) - logGamma(float64(k)+0.5) - logGamma(float64(n-k)+0.5) + math.Log(math.Pi)
}

// logGamma is Stirling's formula, which is enough for numbers from a half.
func logGamma(x float64) float64 {
	shift := 0.
	if x < 1 {
		shift = -math.Log(x)
		x++
	}
	return (x-0.5)*math.Log(x) - x + 0.5*math.Log(2*math.Pi) + 1/(12*x) + shift
}

// score returns what the silence of the buckets from a to b is worth, of what season, and
// how many ids were expected.
func (g *grid) score(a, b int) (x float64, s *season, expected float64) {
	none := &g.seasons[0]
	before, after := g.beside(none, a, a, b, g.near(none, b-a))
	if before.n < 2 || after.n < 2 || min(float64(before.n-before.empty)/float64(before.n), float64(after.n-after.empty)/float64(after.n)) < minOccupied {
		return 0, none, 0
	}
	s = g.season(a, b)
	near := g.near(s, b-a)
	rare := make([]float64, b-a)
	for i := range rare {
		rare[i] = g.rare(s, a+i, a, b, near)
		x += rare[i]
	}
	if x < 2 {
		return 0, s, 0
	}
	x = 0
	perDay := 1
	if g.length > 0 {
		perDay = max(minutesPerDay/g.length, 1)
	}
	for i := a; i < b; {
		from, missing := i, 0.
		day := g.day(i)
		for ; i < b && (i == from || perDay > 1 && g.day(i) == day); i++ {
			missing += g.mean(s, i, a, b)
		}
		expected += missing
		f, most := 1., math.Inf(1)
		if perDay > 1 {
			f, most = g.c.level(day, s.period == 7*perDay, missing)
		}
		sum := 0.
		for k := from; k < i; k++ {
			mean := missing / float64(i-from)
			r := rare[k-a]
			sum += min(r, f*max(mean, r))
		}
		x += min(sum, most)
	}
	return x, s, expected
}

// day returns the day of a bucket.
func (g *grid) day(i int) int { return ((g.first+i)*g.length - g.shift + g.length/2) / minutesPerDay }

// level returns how many ids a day has beside a silence, as a part of the usual ones,
// at most 1, given how many usual ones are missing; and what it is worth that the day has
// none at most.
func (c *clock) level(day int, byWeekday bool, missing float64) (f, most float64) {
	step := 1
	if byWeekday {
		step = 7
	}
	sum, n := int64(0), 0
	for k := 1; k <= seasonPeriods; k++ {
		for _, d := range [2]int{day - k*step, day + k*step} {
			if d >= 0 && d < len(c.days) {
				sum += c.days[d]
				n++
			}
		}
	}
	usual := float64(sum) / float64(max(n, 1))
	rest := max(usual-missing, 0)
	n1 := float64(c.days[day]) + 1
	return min(1, (n1+2*math.Sqrt(n1))/(rest+1)), math.Inf(1)
}

// silence is a time without ids, in minutes of the history.
type silence struct {
	from, to     int
	worth, score float64
	expected     float64
	length       int
	period       int
}

// outages returns the silences that the rhythm of the collection does not explain, and
// the deletions of all ids of a time, in which the counters went on.
func (h *history) outages(zone *time.Location) (out []Event) {
	var silences []silence
	for i := 0; i < len(h.minutes); i++ {
		if h.minutes[i] != 0 {
			continue
		}
		from := i
		for i < len(h.minutes) && h.minutes[i] == 0 {
			i++
		}
		if from > 0 && i < len(h.minutes) && i-from > 1 {
			silences = append(silences, silence{from: from, to: i})
		}
	}
	if len(silences) == 0 {
		return nil
	}
	c := h.clock(zone)
	for _, length := range bucketLengths {
		for half := range 2 {
			shift := half * length / 2
			if length == 0 {
				shift = half * 14
			} else if half == 1 && shift == 0 {
				continue
			}
			if g := c.newGrid(length, shift); len(g.seasons) > 0 {
				g.judge(silences)
			}
		}
	}
	silences = slices.DeleteFunc(silences, func(s silence) bool { return s.worth == 0 })
	slices.SortStableFunc(silences, func(a, b silence) int { return cmp.Compare(b.worth, a.worth) })
	sure := exceptions(len(silences), func(i int) float64 { return silences[i].worth })
	for i, s := range silences {
		if s.score < outageMargin {
			continue
		}
		e := Event{Kind: Outage, Start: h.minute(s.from), End: h.minute(s.to), Size: int64(s.expected), Confidence: Possible}
		switch {
		case i >= sure:
		case s.score >= certainMargin:
			e.Confidence = Certain
		case s.score >= likelyMargin:
			e.Confidence = Likely
		}
		var missing int64
		for hour := s.from / 60; hour <= (s.to-1)/60; hour++ {
			missing += h.gaps[hour]
		}
		if float64(missing) > s.expected/2 && s.to-s.from >= 60 {
			e.Kind, e.Size, e.Share, e.Confidence = Deletion, missing, 1, Likely
		}
		out = append(out, e)
	}
	return out
}

// judge gives silences their scores in a grid, if these are higher and the silences are
// exceptions in it.
func (g *grid) judge(silences []silence) {
	type scored struct {
		silence
		of int
	}
	var all []scored
	chance := math.Log(float64(g.occupied))
	for k := range silences {
		s := &silences[k]
		a, b := g.bucket(g.c.at(s.from)-1)+1-g.first, g.bucket(g.c.at(s.to-1)+1)-g.first
		if a >= b || b-a > maxSilent {
			continue
		}
		x, season, expected := g.score(a, b)
		s.worth = max(s.worth, x)
		if x >= chance/2 {
			all = append(all, scored{silence{worth: x, score: x - chance, expected: expected, length: g.length, period: season.period, from: s.from, to: s.to}, k})
		}
	}
	all = slices.DeleteFunc(all, func(s scored) bool { return yearly(s.silence, silences) })
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.worth, a.worth) })
	for _, a := range all[:exceptions(len(all), func(i int) float64 { return all[i].worth })] {
		if s := &silences[a.of]; a.score > s.score {
			a.silence.worth = s.worth
			*s = a.silence
		}
	}
}

// exceptions returns how many of n silences, which are ordered by what they are worth,
// are worth so much more than the next ones that these have no such tail: the logarithms
// of what the largest ones are worth are taken to be exponential, which is so for heavy
// tails, and more than enough for others.
func exceptions(n int, worth func(int) float64) (out int) {
	for k := 1; k <= n && k <= max(maxExceptions, n/100); k++ {
		if k == n {
			return k
		}
		last, next := worth(k-1), worth(k)
		m := k
		for m < n && worth(m) >= next/8 {
			m++
		}
		top := int(math.Sqrt(float64(m - k)))
		if top < 2 {
			if last >= 2*next {
				out = k
			}
			continue
		}
		logs := 0.
		for i := range top {
			logs += math.Log(worth(k+i) / worth(k+top))
		}
		if float64(top)*math.Log1p(math.Log(last/next)/logs) >= outageMargin {
			out = k
		}
	}
	return out
}

const maxExceptions = 3

const maxSilent = 1000

// yearly reports whether a silence is one of those of other years too.
func yearly(s silence, others []silence) bool {
	const year = 365*minutesPerDay + 6*60
	near := max(s.to-s.from, 2*minutesPerDay) / 2
	if s.to-s.from < minutesPerDay {
		return false
	}
	for _, o := range others {
		apart := max(s.from+s.to-o.from-o.to, o.from+o.to-s.from-s.to) / 2
		if max(apart-year, year-apart) <= near && 2*o.worth >= s.worth && 3*(o.to-o.from) >= 2*(s.to-s.from) {
			return true
		}
	}
	return false
}
