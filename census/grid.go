package census

import (
	"math"
	"slices"
	"time"
)

// The lengths of buckets, in minutes, and the seasons in which buckets are alike.
var (
	bucketLengths = [...]int{1, 10, 60, minutesPerDay, minutesPerWeek, minutesPerMonth}
	seasonLengths = [...]int{minutesPerDay, minutesPerWeek, 2 * minutesPerWeek}
)

const (
	minutesPerDay  = 24 * 60
	minutesPerWeek = 7 * minutesPerDay

	// minutesPerMonth is the mean month. What is monthly is up to two days off, which
	// those buckets do not show that begin a week or more before or after it.
	minutesPerMonth = 1461 * minutesPerDay / 48

	// seasonPeriods is how many periods on each side tell what is usual at least.
	seasonPeriods = 8

	// seasonMargin and seasonShare are how much shorter, in nats and in part, the code of
	// which buckets are occupied must be for a longer season.
	seasonMargin = 3
	seasonShare  = 0.02
)

// clock is a history by the clock of a zone, from a Monday at midnight. What a day lacks
// when the clock goes forwards is like the hour before.
type clock struct {
	minutes []int32
	tens    []int32 // by ten minutes
	days    []int64
	low     float64         // level of the days with the least ids
	at      func(i int) int // minute of the clock at minute i of the history
}

func (h *history) clock(zone *time.Location) *clock {
	offsets := make([]int, h.hours()) // minutes
	for i := range offsets {
		_, seconds := h.minute(i * 60).In(zone).Zone()
		offsets[i] = seconds / 60
	}
	const monday = 4 * minutesPerDay // of 1970
	start := int(h.from)/60 + offsets[0]
	pad := (start - monday) % minutesPerWeek
	c := &clock{at: func(i int) int { return pad + i + offsets[i/60] - offsets[0] }}
	c.minutes = make([]int32, c.at(len(h.minutes)-1)+1)
	next := pad
	for hour := range offsets {
		at := c.at(hour * 60)
		for ; next < at; next++ {
			c.minutes[next] = c.minutes[next-60]
		}
		for i, n := range h.minutes[hour*60 : hour*60+60] {
			c.minutes[at+i] += n
		}
		next = max(next, at+60)
	}
	c.tens = make([]int32, (len(c.minutes)-1)/10+1)
	c.days = make([]int64, (len(c.minutes)-1)/minutesPerDay+1)
	for i, n := range c.minutes {
		c.tens[i/10] += n
		c.days[i/minutesPerDay] += int64(n)
	}
	c.low = c.lowest()
	return c
}

// grid is a history in buckets of one length. Whether an empty bucket is unusual is told
// by the buckets of its kind: those that are whole periods of a season away from it.
//
//	length an hour, season a day (period 24); x is occupied, . is empty
//	  Mon ........xxxxxxxxxx......
//	  Tue ........xxxxxxxxxx......
//	  Wed ........xxx....xxx......    a silence from a to b: the buckets above and below
//	  Thu ........xxxxxxxxxx......    it are occupied, so that it is unusual; the night
//	  Fri ........xxxxxxxxxx......    is not, since the night is empty on each day
//
// Season 1 has one kind: all buckets are alike. The season that describes which buckets
// are occupied in the fewest nats is the one that tells.
type grid struct {
	c        *clock
	length   int     // minutes
	shift    int     // minutes, see newGrid
	ids      []int64 // by bucket; the first and the last have some
	first    int     // the bucket of ids[0], from the start of the clock
	occupied int
	seasons  []season    // none if too few buckets are occupied
	chosen   map[int]int // seasons by week
}

// season is how many buckets of each kind are occupied: those at i, i-period and so on
// have the sum sums[i+period].
type season struct {
	period int
	sums   []int32
	mostly []bool // which kinds are occupied in three of four buckets
	alike  side   // the buckets of those
}

// newGrid returns the history of c in buckets of the length, which begin so many minutes
// before those of the clock.
func (c *clock) newGrid(length, shift int) *grid {
	g := &grid{c: c, length: length, shift: shift, chosen: map[int]int{}}
	cells, cell := c.tens, 10
	if length == 1 {
		cells, cell = c.minutes, 1
	}
	ids := make([]int64, g.bucket(len(cells)*cell)+1)
	for i, n := range cells {
		if n > 0 {
			ids[g.bucket(i*cell)] += int64(n)
		}
	}
	for i, n := range ids {
		if n > 0 {
			if g.occupied == 0 {
				g.first = i
			}
			g.occupied++
			g.ids = ids[g.first : i+1]
		}
	}
	if g.occupied < 2*seasonPeriods || float64(g.occupied) < minOccupied/4*float64(len(g.ids)) {
		return g
	}
	g.addSeason(1)
	for _, s := range seasonLengths {
		if 1 < length && length < s && (s <= minutesPerWeek || length == minutesPerWeek) || length == 1 && s == minutesPerDay {
			g.addSeason(s / length)
		}
	}
	return g
}

// addSeason adds a season of that many buckets, if there are four of them.
func (g *grid) addSeason(period int) {
	if 4*period > len(g.ids) {
		return
	}
	s := season{period: period, sums: make([]int32, len(g.ids)+period), mostly: make([]bool, period)}
	for i, n := range g.ids {
		s.sums[i+period] = s.sums[i]
		if n > 0 {
			s.sums[i+period]++
		}
	}
	for i := range period {
		if _, all := g.beside(&s, i, 0, 0, len(g.ids)); 4*all.empty < all.n {
			s.mostly[i] = true
			s.alike.n += all.n
			s.alike.empty += all.empty
		}
	}
	g.seasons = append(g.seasons, s)
}

// bucket returns the bucket of a minute of the clock.
func (g *grid) bucket(minute int) int { return (minute + g.shift) / g.length }

// day returns the day of a bucket, or -1 if buckets are days or longer.
func (g *grid) day(i int) int {
	if g.length >= minutesPerDay {
		return -1
	}
	return ((g.first+i)*g.length - g.shift + g.length/2) / minutesPerDay
}

// side is some buckets: how many there are, and how many of them are empty.
type side struct{ n, empty int }

func (s side) occupied() float64 { return 1 - float64(s.empty)/float64(s.n) }

// next returns the last bucket of the kind of i before a and the first one from b on.
func (s *season) next(i, a, b int) (before, after int) {
	p := s.period
	return a - 1 - ((a-1-i)%p+p)%p, b + ((i-b)%p+p)%p
}

// beside returns the buckets of the kind of i before a and from b on, up to periods of
// them on each side.
func (g *grid) beside(s *season, i, a, b, periods int) (before, after side) {
	p := s.period
	last, next := s.next(i, a, b)
	if last >= 0 {
		n := min(last/p+1, periods)
		before = side{n, n - int(s.sums[last+p]-s.sums[last-(n-1)*p])}
	}
	if next < len(g.ids) {
		n := min((len(g.ids)-1-next)/p+1, periods)
		after = side{n, n - int(s.sums[next+n*p]-s.sums[next])}
	}
	return before, after
}

// near returns how many periods on each side of a silence are near: seasonPeriods, and a
// week.
func (g *grid) near(period, length int) int {
	return max(seasonPeriods*((length+period-1)/period), minutesPerWeek/(g.length*period))
}

// rare returns how rarely a bucket like i is empty: the logarithm of the part of those,
// negated. It is 0 if a side of the silence from a to b has less than two of these buckets,
// or only empty ones. The kinds of alike are compared where i's own has never been empty.
func (g *grid) rare(s *season, i, a, b int, alike side) float64 {
	near := g.near(s.period, b-a)
	before, after := g.beside(s, i, a, b, near)
	if before.n < 2 || after.n < 2 || before.empty == before.n || after.empty == after.n {
		return 0
	}
	part := func(n side, more float64) float64 { return (float64(n.empty) + more) / (float64(n.n) + 2*more) }
	miss, known := 1., part(alike, 0.5)
	for w := near; ; w *= 4 {
		x, y := g.beside(s, i, a, b, w)
		both := side{x.n + y.n, x.empty + y.empty}
		miss = min(miss, part(both, 0.5), max(part(both, 0), known))
		if w > len(g.ids) {
			break
		}
	}
	return -math.Log(max(miss, part(before, 0), part(after, 0)))
}

// mean returns how many ids the buckets of the kind of i have on average, on the side with
// less.
func (g *grid) mean(s *season, i, a, b int) float64 {
	last, next := s.next(i, a, b)
	average := func(at, step int) float64 {
		sum, n := int64(0), 0
		for ; at >= 0 && at < len(g.ids) && n < 2*seasonPeriods; at += step {
			sum += g.ids[at]
			n++
		}
		return float64(sum) / float64(max(n, 1))
	}
	return min(average(last, -s.period), average(next, s.period))
}

// usual returns how many ids the days around a day have, step days apart.
func (c *clock) usual(day, step int) float64 {
	sum, n := int64(0), 0
	for k := step; k <= seasonPeriods*step; k += step {
		for _, d := range [2]int{day - k, day + k} {
			if d >= 0 && d < len(c.days) {
				sum += c.days[d]
				n++
			}
		}
	}
	return float64(sum) / float64(max(n, 1))
}

// lowest returns the third lowest number of ids of a day, as a part of the usual ones: the
// history begins and ends within a day.
func (c *clock) lowest() float64 {
	parts := []float64{1, 1, 1}
	for d, n := range c.days {
		if usual := c.usual(d, 7); n > 0 && usual > 0 {
			parts = append(parts, float64(n)/usual)
		}
	}
	slices.Sort(parts)
	return parts[2]
}

// level returns the number of ids that a day has beside a silence, as a part of the usual
// ones, at most 1, given how many usual ones are missing. Few ids are taken for as many as
// they may be by chance. A day of which little is left may be one of those with the least.
func (g *grid) level(day int, s *season, missing float64) float64 {
	if day < 0 {
		return 1
	}
	step := 1
	if s.period*g.length > minutesPerDay {
		step = 7
	}
	usual, ids := g.c.usual(day, step), float64(g.c.days[day])+1
	level := min(1, (ids+2*math.Sqrt(ids))/(max(usual-missing, 0)+1))
	if missing > 0.75*usual {
		level = min(level, 2*g.c.low)
	}
	return level
}

// season returns the season that tells most about which buckets beside a silence are
// occupied.
func (g *grid) season(a, b int) *season {
	week, key := max(minutesPerWeek/g.length, 1), -1
	if b-a <= week {
		key = a / week
		if i, ok := g.chosen[key]; ok {
			return &g.seasons[i]
		}
	}
	window := seasonPeriods * max(week, b-a)
	best, least := 0, math.Inf(1)
	for k := range g.seasons {
		s, cost := &g.seasons[k], 0.
		for i := a; i < a+s.period; i++ {
			x, y := g.beside(s, i, a, b, max(window/s.period, 1))
			cost += codeLength(x.empty+y.empty, x.n+y.n)
		}
		if cost+max(seasonMargin, seasonShare*cost) < least || k == 0 {
			best, least = k, cost
		}
	}
	g.chosen[key] = best
	return &g.seasons[best]
}

// codeLength returns how many nats tell which k of n buckets are empty, one after the
// other, if it is not known beforehand how many are (Krichevsky and Trofimov).
func codeLength(k, n int) float64 {
	return logGamma(2*n+2) - logGamma(2*k+1) - logGamma(2*(n-k)+1) + math.Log(math.Pi)
}

// logGamma returns the logarithm of the gamma function of half a number.
func logGamma(twice int) float64 {
	x, _ := math.Lgamma(float64(twice) / 2)
	return x
}
