package census

import (
	"math"
	"math/bits"
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

// newGrid returns the history of c in buckets of the given length. Each begins shift minutes
// before a multiple of length on the clock.
func (c *clock) newGrid(length, shift int) *grid {
	g := &grid{c: c, length: length, shift: shift, chosen: map[int]int{}}
	if length > 1 {
		g.ids = make([]int64, g.bucket(len(c.tens)*10)+1)
		for i, n := range c.tens {
			g.ids[g.bucket(i*10)] += int64(n)
		}
	}
	for i := range g.buckets {
		if g.occupied == 0 {
			g.first = i
		}
		g.occupied++
		g.size = i + 1 - g.first
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

// buckets yields the occupied buckets, counted from the start of the clock.
func (g *grid) buckets(yield func(int) bool) {
	if g.length == 1 {
		for i := range g.c.occupied {
			if !yield(i) {
				return
			}
		}
	}
	for i, n := range g.ids {
		if n > 0 && !yield(i) {
			return
		}
	}
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
	for i := range g.buckets {
		at := (i-g.first)%period*s.rows + (i-g.first)/period
		s.words[at/64].bits |= 1 << (at % 64)
	}
	for i, w := range s.words[:len(s.words)-1] {
		s.words[i+1].before = s.words[i].before + uint64(bits.OnesCount64(w.bits))
	}
	for i := range period {
		kind := g.around(&s, i, 0, 0)
		if _, all := kind.beside(g.size); 4*all.empty < all.n {
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

// surroundings are the buckets of one kind around a silence, which are before of them before the
// silence, and those from number after to number size behind it.
type surroundings struct {
	s                   *season
	first               int // the bucket with number 0
	before, after, size int
}

// around returns the buckets of the same kind as i around the silence from a to b.
func (g *grid) around(s *season, i, a, b int) surroundings {
	k, p := i%s.period, s.period
	number := func(bucket int) int { return max(bucket-k+p-1, 0) / p }
	return surroundings{s, k, number(a), number(b), number(g.size)}
}

// beside counts the buckets on both sides of the silence, up to periods of them on each side.
func (r *surroundings) beside(periods int) (before, after side) {
	return r.count(max(r.before-periods, 0), r.before), r.count(r.after, min(r.after+periods, r.size))
}

// count counts the buckets from number from to number to.
func (r *surroundings) count(from, to int) side {
	start := r.first * r.s.rows
	return side{to - from, to - from - r.s.rank(start+to) + r.s.rank(start+from)}
}

// near returns how many periods on each side of a silence of length buckets count as near. That
// is at least seasonPeriods and at least a week.
func (g *grid) near(period, length int) int {
	return max(seasonPeriods*((length+period-1)/period), minutesPerWeek/(g.length*period))
}

// rare returns how unusual it is that a bucket is empty: -ln of the fraction of empty buckets
// among those of its kind. It returns 0 if a side of the silence has less than two such buckets,
// or only empty ones. If no bucket of the kind was ever empty, the fraction among the buckets of
// alike is used. near is the number of periods that count as near.
func (r *surroundings) rare(near int, alike side) float64 {
	before, after := r.beside(near)
	if before.n < 2 || after.n < 2 || before.empty == before.n || after.empty == after.n {
		return 0
	}
	part := func(n side, more float64) float64 { return (float64(n.empty) + more) / (float64(n.n) + 2*more) }
	miss, known := 1., part(alike, 0.5)
	for x, y := before, after; ; x, y = r.beside(near) {
		both := side{x.n + y.n, x.empty + y.empty}
		miss = min(miss, part(both, 0.5), max(part(both, 0), known))
		if near >= r.size {
			break
		}
		near *= 4
	}
	return -math.Log(max(miss, part(before, 0), part(after, 0)))
}

// mean returns the average number of ids in the nearest buckets, on that side of the silence
// where it is less.
func (g *grid) mean(r *surroundings) float64 {
	average := func(from, to int) float64 {
		sum := int64(0)
		for n := from; n < to; n++ {
			sum += g.count(r.first + n*r.s.period)
		}
		return float64(sum) / float64(max(to-from, 1))
	}
	return min(average(max(r.before-2*seasonPeriods, 0), r.before), average(r.after, min(r.after+2*seasonPeriods, r.size)))
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
			kind := g.around(s, i, a, b)
			x, y := kind.beside(max(window/s.period, 1))
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
