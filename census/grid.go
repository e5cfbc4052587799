package census

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// The lengths of buckets, and of the seasons after which a pattern repeats, in minutes.
var (
	bucketLengths = [...]int{1, 10, 60, minutesPerDay, minutesPerWeek, minutesPerMonth}
	seasonLengths = [...]int{minutesPerDay, minutesPerWeek, 2 * minutesPerWeek}
)

const (
	minutesPerDay  = 24 * 60
	minutesPerWeek = 7 * minutesPerDay

	// minutesPerMonth is the mean length of a month. A monthly job is up to two days early
	// or late by that measure, so some grids have buckets that begin half a month later.
	minutesPerMonth = 1461 * minutesPerDay / 48

	// seasonPeriods is the least number of periods, before and after a silence, that tell
	// what is usual.
	seasonPeriods = 8

	// A longer season is chosen only if it describes the occupied buckets in a shorter
	// code: by seasonMargin nats, and by the fraction seasonShare.
	seasonMargin = 3
	seasonShare  = 0.02
)

// clock is a history in the local time of a zone. It begins at midnight on a Monday. The hour
// that is skipped when summer time begins repeats the hour before.
type clock struct {
	minutes []int32         // of the history
	pieces  []piece         // in order of time
	latest  int             // the piece of the latest call of minute
	size    int             // number of local minutes
	tens    []int32         // ids in each ten minutes
	days    []int64         // ids on each day
	low     float64         // level of the days with the fewest ids, see lowest
	at      func(i int) int // local minute for minute i of the history
}

// piece is a part of a history in which the offset from UTC does not change.
type piece struct {
	from, to int // minutes of the history
	local    int // local minute of from
}

func (h *history) clock(zone *time.Location) *clock {
	c := &clock{minutes: h.minutes}
	offsets := make([]int, h.hours()) // minutes
	for i := range offsets {
		_, seconds := h.minute(i * 60).In(zone).Zone()
		offsets[i] = seconds / 60
	}
	const monday = 4 * minutesPerDay // the first Monday of 1970
	start := int(h.from)/60 + offsets[0]
	pad := (start - monday) % minutesPerWeek
	c.at = func(i int) int { return pad + i + offsets[i/60] - offsets[0] }
	for i := range offsets {
		if i == 0 || offsets[i] != offsets[i-1] {
			c.pieces = append(c.pieces, piece{i * 60, i * 60, c.at(i * 60)})
		}
		c.pieces[len(c.pieces)-1].to += 60
		c.size = max(c.size, c.at(i*60)+60)
	}
	c.tens = make([]int32, (c.size-1)/10+1)
	c.days = make([]int64, (c.size-1)/minutesPerDay+1)
	for i := range c.size {
		n := c.minute(i)
		c.tens[i/10] += n
		c.days[i/minutesPerDay] += int64(n)
	}
	c.low = c.lowest()
	return c
}

// foldMinutes is longer than the time that clocks repeat when they are set back.
const foldMinutes = 2 * minutesPerDay

// minute returns the ids in a local minute.
func (c *clock) minute(i int) (n int32) {
	for c.latest+1 < len(c.pieces) && c.pieces[c.latest+1].local <= i {
		c.latest++
	}
	for c.latest > 0 && c.pieces[c.latest].local > i {
		c.latest--
	}
	if p := c.pieces[c.latest]; i >= p.local+foldMinutes && i < p.local+p.to-p.from {
		return c.minutes[p.from+i-p.local] // no other piece has this minute
	}
	isSkipped := i > c.pieces[0].local
	for _, p := range c.pieces[max(c.latest-1, 0) : c.latest+1] {
		if at := p.from + i - p.local; at >= p.from && at < p.to {
			n, isSkipped = n+c.minutes[at], false
		}
	}
	if isSkipped {
		return c.minute(i - 60)
	}
	return n
}

// grid is a history in buckets of one length. A bucket is occupied if it has an id. Buckets
// that are whole periods of a season apart have the same kind, and an empty bucket is unusual
// if most buckets of its kind are occupied.
//
//	length an hour, season a day (period 24); x is occupied, . is empty
//	  Mon ........xxxxxxxxxx......
//	  Tue ........xxxxxxxxxx......
//	  Wed ........xxx....xxx......    a silence from a to b: the buckets above and below
//	  Thu ........xxxxxxxxxx......    it are occupied, so that it is unusual; the night
//	  Fri ........xxxxxxxxxx......    is not, since the night is empty on each day
//
// In a season with the period 1 all buckets have the same kind. The grid uses the season that
// describes the occupied buckets in the shortest code.
type grid struct {
	c        *clock
	length   int         // of a bucket, in minutes
	shift    int         // in minutes, see newGrid
	ids      []int64     // by bucket from the start of the clock, unless length is 1: see count
	first    int         // index of the first occupied bucket, from the start of the clock
	size     int         // number of buckets from the first to the last occupied one
	occupied int         // number of occupied buckets
	seasons  []season    // empty if too few buckets are occupied
	chosen   map[int]int // index of the season chosen for each week
}

// season knows which buckets of each kind are occupied. There are millions of buckets, so it
// has one bit for each: the buckets 0, period, 2*period and so on, then 1, period+1 and so on.
type season struct {
	period int    // in buckets
	rows   int    // how many buckets each kind has at most
	words  []word // the bits
	mostly []bool // for each kind, whether more than three of four buckets are occupied
	alike  side   // all buckets of these kinds
}

// word has 64 bits of a season, and the number of occupied buckets before them.
type word struct{ bits, before uint64 }

// rank returns how many buckets before number n are occupied, in the order of bits.
func (s *season) rank(n int) int {
	w := &s.words[uint(n)/64]
	return int(w.before) + bits.OnesCount64(w.bits&(1<<(uint(n)%64)-1))
}

// empty returns how many of n buckets of the same kind as i are empty. The first is in a row.
func (s *season) empty(i, row, n int) int {
	if s.period > 1 {
		row += int(uint32(i)%uint32(s.period)) * s.rows
	}
	return n - (s.rank(row+n) - s.rank(row))
}

// newGrid returns the history of c in buckets of the given length. Each begins shift minutes
// before a multiple of length on the clock.
func (c *clock) newGrid(length, shift int) *grid {
	g := &grid{c: c, length: length, shift: shift, chosen: map[int]int{}}
	buckets := c.size
	if length > 1 {
		g.ids = make([]int64, g.bucket(len(c.tens)*10)+1)
		for i, n := range c.tens {
			g.ids[g.bucket(i*10)] += int64(n)
		}
		buckets = len(g.ids)
	}
	for i := range buckets {
		if g.count(i-g.first) > 0 {
			if g.occupied == 0 {
				g.first = i
			}
			g.occupied++
			g.size = i + 1 - g.first
		}
	}
	if g.occupied < 2*seasonPeriods || float64(g.occupied) < minOccupied/4*float64(g.size) {
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

// count returns the number of ids in bucket i, counted from the first occupied one.
func (g *grid) count(i int) int64 {
	if g.length == 1 {
		return int64(g.c.minute(g.first + i))
	}
	return g.ids[g.first+i]
}

// addSeason adds a season with a period in buckets, if the grid has at least four periods.
func (g *grid) addSeason(period int) {
	if 4*period > g.size {
		return
	}
	s := season{period: period, rows: (g.size + period - 1) / period, mostly: make([]bool, period)}
	s.words = make([]word, period*s.rows/64+1)
	for i := range g.size {
		if g.count(i) > 0 {
			at := i%period*s.rows + i/period
			s.words[at/64].bits |= 1 << (at % 64)
		}
	}
	for i, w := range s.words[:len(s.words)-1] {
		s.words[i+1].before = s.words[i].before + uint64(bits.OnesCount64(w.bits))
	}
	for i := range period {
		if _, all := g.beside(&s, i, 0, 0, g.size); 4*all.empty < all.n {
			s.mostly[i] = true
			s.alike.n += all.n
			s.alike.empty += all.empty
		}
	}
	g.seasons = append(g.seasons, s)
}

// bucket returns the index of the bucket that has a minute of the clock.
func (g *grid) bucket(minute int) int { return (minute + g.shift) / g.length }

// day returns the day of a bucket, or -1 if buckets are days or longer.
func (g *grid) day(i int) int {
	if g.length >= minutesPerDay {
		return -1
	}
	return ((g.first+i)*g.length - g.shift + g.length/2) / minutesPerDay
}

// side counts some buckets, usually those on one side of a silence.
type side struct{ n, empty int }

func (s side) occupied() float64 { return 1 - float64(s.empty)/float64(s.n) }

// next returns the nearest buckets of the same kind as i: the last one before a, and the first
// one from b on.
func (s *season) next(i, a, b int) (before, after int) {
	p := s.period
	return a - 1 - ((a-1-i)%p+p)%p, b + ((i-b)%p+p)%p
}

// beside counts the buckets of the same kind as i on both sides of the silence from a to b, up
// to periods of them on each side.
func (g *grid) beside(s *season, i, a, b, periods int) (before, after side) {
	p := s.period
	last, next := s.next(i, a, b)
	if last >= 0 {
		row := last / p
		n := min(row+1, periods)
		before = side{n, s.empty(i, row-n+1, n)}
	}
	if next < g.size {
		n := min((g.size-1-next)/p+1, periods)
		after = side{n, s.empty(i, next/p, n)}
	}
	return before, after
}

// near returns how many periods on each side of a silence of length buckets count as near. That
// is at least seasonPeriods and at least a week.
func (g *grid) near(period, length int) int {
	return max(seasonPeriods*((length+period-1)/period), minutesPerWeek/(g.length*period))
}

// rare returns how unusual it is that bucket i is empty: -ln of the fraction of empty buckets
// among those of its kind. It returns 0 if a side of the silence from a to b has less than two
// such buckets, or only empty ones. If no bucket of the kind was ever empty, the fraction
// among the buckets of alike is used.
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
		if w > g.size {
			break
		}
	}
	return -math.Log(max(miss, part(before, 0), part(after, 0)))
}

// mean returns the average number of ids in buckets of the same kind as i, on that side of the
// silence from a to b where it is less.
func (g *grid) mean(s *season, i, a, b int) float64 {
	last, next := s.next(i, a, b)
	average := func(at, step int) float64 {
		sum, n := int64(0), 0
		for ; at >= 0 && at < g.size && n < 2*seasonPeriods; at += step {
			sum += g.count(at)
			n++
		}
		return float64(sum) / float64(max(n, 1))
	}
	return min(average(last, -s.period), average(next, s.period))
}

// usual returns the average number of ids on the days around day. These are step days apart.
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

// lowest returns the level of the day with the third fewest ids, as a fraction of the usual
// number. Two days are skipped because the history begins and ends within a day.
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

// level returns how busy the rest of a day with a silence was: its ids as a fraction of the
// usual number, at most 1. missing is the usual number of ids during the silence. Few ids count
// as the most that chance explains. If the silence takes most of the day, the day may have
// been one of the days with the fewest ids.
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

// season returns the season that best describes which buckets around the silence from a to b
// are occupied.
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

// codeLength returns the length, in nats, of a code that says which k of n buckets are empty.
// The code does not know k beforehand (Krichevsky and Trofimov).
func codeLength(k, n int) float64 {
	return logGamma(2*n+2) - logGamma(2*k+1) - logGamma(2*(n-k)+1) + math.Log(math.Pi)
}

// logGamma returns ln Γ(twice/2).
func logGamma(twice int) float64 {
	x, _ := math.Lgamma(float64(twice) / 2)
	return x
}
