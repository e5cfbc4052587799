package census

import (
	"math"
	"slices"
)

// A process that is suspect is judged by stretches: sequences of ids, in order of time,
// of which each continues the counter of the one before. One process is one stretch as
// long as its counter moves on by a few typical steps. A restart, a clock step and a
// second process begin a new one.
//
// Building them rewrites the records in place, without memory of its own: the 40 bits of
// the process value are the same in all of them. A record of a stretch is
//
//	hi  index of the stretch (20 bits) | wraps (20 bits) | counter (24 bits)
//	lo  second (32 bits) | place (32 bits)
//
// where wraps and counter together are the unwrapped counter.

const (
	wrapBits      = 20
	unwrappedBits = wrapBits + counterBits
	unwrappedMask = 1<<unwrappedBits - 1

	maxStretches = 1 << 16 // of one process value; more are not judged
)

// byCounter returns the record of r's id in a stretch.
func byCounter(r record, stretch int, unwrapped int64) record {
	return record{uint64(stretch)<<unwrappedBits | uint64(unwrapped), uint64(r.second())<<placeBits | uint64(r.place())}
}

func (r record) stretch() int            { return int(r.hi >> unwrappedBits) }
func (r record) unwrapped() int64        { return int64(r.hi & unwrappedMask) }
func (r record) secondByCounter() uint32 { return uint32(r.lo >> placeBits) }

// byTime is the inverse of byCounter.
func byTime(r record, value uint64) record {
	second := r.secondByCounter()
	return record{
		value<<counterBits | uint64(second>>8),
		uint64(second)<<56 | (r.hi&counterMask)<<placeBits | r.lo&placeMask,
	}
}

// stretch is a sequence of ids whose counters continue.
type stretch struct {
	from, at int64 // first and last unwrapped counter
	start    record
	end      record // the ids that have them
	first    uint32 // second
	last     uint32
	ids      int64 // distinct

	// Where the counter stood at the ends of the last two seconds with ids before the
	// current one, which is last, and which second the first of them was.
	before, earlier int64
	previous        uint32

	pace int64 // the most counters in a second

	nearest  int   // the stretch in use whose counter was nearest to the first one; -1 without
	distance int64 // of the two

	group int   // stretches of the same group are one sequence
	shift int64 // of its counters there
}

func (s *stretch) length() int64 { return s.at - s.from }

// lateZone returns how far behind at the counter of an id of the given second may be
// that was overtaken: its thread had read the clock before others took their counters.
func (s *stretch) lateZone(second uint32) int64 {
	floor := s.earlier
	switch {
	case second-s.last >= 2:
		floor = s.at
	case second != s.last, second-s.previous >= 2:
		floor = s.before
	}
	zone := s.at - floor
	if second-s.first < 2 {
		zone = s.length() + maxStale
	}
	return min(zone, counterRange/4)
}

// enter begins a second.
func (s *stretch) enter(second uint32) {
	if second == s.last {
		return
	}
	s.measure()
	s.earlier, s.before, s.previous, s.last = s.before, s.at, s.last, second
}

// measure takes the pace of the current second.
func (s *stretch) measure() {
	s.pace = max(s.pace, (s.at-s.before)/int64(max(s.last-s.previous, 1)))
}

// returns is how often ids came back to a stretch after one of another, and the bits
// that this is worth: the closer to its end, the more.
type returns struct {
	count int64
	bits  float64
}

func (r returns) plus(bits float64) returns { return returns{r.count + 1, r.bits + bits} }

// hole is a stretch of counters within a stretch of ids that none of these has.
type hole struct {
	stretch int
	from    int64 // unwrapped counter before it
	length  int64 // to the counter behind it
	before  record
	next    record
}

// stretches are the stretches of one process value.
type stretches struct {
	list   []stretch
	recent []int            // the last ones with ids, the latest first
	limit  int64            // how far a stretch may move on at once
	late   int64            // ids that were overtaken
	turns  map[pair]returns // to the first stretch, after the second
	total  returns
	holes  []hole // the longest
}

// maxRecent is how many stretches an id may continue.
const maxRecent = 8

// maxHoles is how many holes are kept. That many are no evidence any more, see fits.
const maxHoles = 1024

// newStretches divides the records of e, which are in order of time, and rewrites them
// by counter. It reports false if there are too many stretches; then the records are not
// all rewritten.
func newStretches(e extent, step int64) (*stretches, int) {
	ss := &stretches{limit: stepLimit(step), turns: map[pair]returns{}}
	for i := e.i; i < e.j; {
		second := e.list.at(i).second()
		j := i + 1
		for j < e.j && e.list.at(j).second() == second {
			j++
		}
		k := ss.begin(e, i, j)
		for _, part := range [2][2]int{{k, j}, {i, k}} {
			previous, index, unwrapped := int64(-1), 0, int64(0)
			for n := part[0]; n < part[1]; n++ {
				r := e.list.at(n)
				if c := int64(r.counter()); c != previous { // else the same id again
					if len(ss.list) == maxStretches {
						return ss, i
					}
					index, unwrapped = ss.add(c, second, *r)
					previous = c
				}
				*r = byCounter(*r, index, unwrapped)
			}
		}
		i = j
	}
	for i := range ss.list {
		ss.list[i].measure()
		ss.list[i].group = i
	}
	return ss, e.j
}

// begin returns with which of the records from i to j, of one second, the counter
// continues: with the first one above the end of the latest stretch, or, without one
// that is in use, behind the widest gap.
func (ss *stretches) begin(e extent, i, j int) int {
	if len(ss.list) > 0 && !ss.list[ss.recent[0]].isIdle(e.list.at(i).second()) {
		at := uint32(ss.list[ss.recent[0]].at & counterMask)
		return e.list.search(i, j, func(r record) bool { return r.counter() > at })
	}
	begin, widest := i, int64(counterRange)-int64(e.list.at(j-1).counter())+int64(e.list.at(i).counter())
	for k := i + 1; k < j; k++ {
		if gap := int64(e.list.at(k).counter()) - int64(e.list.at(k-1).counter()); gap > widest {
			begin, widest = k, gap
		}
	}
	return begin
}

// isIdle reports whether s had no id for much longer than usual before the given second.
// Another stretch then takes an id that would fit both.
func (s *stretch) isIdle(second uint32) bool {
	return int64(second) > int64(s.last)+idleFactor*(int64(s.last-s.first)/s.ids+1)
}

// add adds an id with counter c and returns the index of its stretch and its unwrapped
// counter there.
func (ss *stretches) add(c int64, second uint32, r record) (index int, unwrapped int64) {
	best, distance, late, idle := -1, int64(counterRange), false, false
	fits := func(i int, d int64, behind bool) {
		isIdle := ss.list[i].isIdle(second)
		if best < 0 || idle && !isIdle || idle == isIdle && d < distance {
			best, distance, late, idle = i, d, behind, isIdle
		}
	}
	nearest, near := -1, int64(counterRange)
	for _, i := range ss.recent {
		s := &ss.list[i]
		if ahead := (c - s.at) & counterMask; ahead >= 1 && ahead <= ss.limit {
			fits(i, ahead, false)
		}
		if behind := (s.at - c) & counterMask; behind < s.lateZone(second) {
			fits(i, behind, true)
		}
		if d := signed(c - s.at); max(d, -d) < near {
			nearest, near = i, max(d, -d)
		}
	}
	if best < 0 {
		// Leave room below the first counter for ids that were overtaken.
		s := stretch{from: c + counterRange, at: c + counterRange, first: second, last: second, previous: second, ids: 1, nearest: nearest, distance: near}
		s.before, s.earlier = s.from-1, s.from-1
		ss.list = append(ss.list, s)
		best = len(ss.list) - 1
		ss.list[best].start, ss.list[best].end = byCounter(r, best, s.from), byCounter(r, best, s.from)
		ss.use(best)
		return best, s.from
	}
	if best != ss.recent[0] {
		worth := counterBits - math.Log2(float64(distance+1)) - math.Log2(float64(len(ss.recent)))
		turn := pair{best, ss.recent[0]}
		ss.turns[turn] = ss.turns[turn].plus(worth)
		ss.total = ss.total.plus(worth)
		ss.use(best)
	}
	s := &ss.list[best]
	s.enter(second)
	s.ids++
	if late {
		ss.late++
		unwrapped = s.at - distance
		if unwrapped < s.from {
			s.from, s.start = unwrapped, byCounter(r, best, unwrapped)
		}
		return best, unwrapped
	}
	unwrapped = s.at + distance
	if distance > 1 {
		ss.addHole(hole{best, s.at, distance, s.end, byCounter(r, best, unwrapped)})
	}
	s.at, s.end = unwrapped, byCounter(r, best, unwrapped)
	return best, unwrapped
}

// use makes a stretch the latest one.
func (ss *stretches) use(index int) {
	if i := slices.Index(ss.recent, index); i >= 0 {
		ss.recent = slices.Delete(ss.recent, i, i+1)
	}
	ss.recent = slices.Insert(ss.recent, 0, index)
	ss.recent = ss.recent[:min(len(ss.recent), maxRecent)]
}

// addHole keeps h if it is among the longest. At twice maxHoles, half are dropped.
func (ss *stretches) addHole(h hole) {
	ss.holes = append(ss.holes, h)
	if len(ss.holes) >= 2*maxHoles {
		ss.trimHoles()
	}
}

func (ss *stretches) trimHoles() {
	slices.SortStableFunc(ss.holes, func(a, b hole) int { return int(b.length - a.length) })
	ss.holes = ss.holes[:min(len(ss.holes), maxHoles)]
}

// stepLimit returns how far the counter of one process moves on at once, if it
// typically moves on by step. Random steps exceed it with a probability of e^-44.
func stepLimit(step int64) int64 {
	return min(stepFactor*step+stepFactor, counterRange/16)
}

const (
	windowIDs  = 1024 // ids whose counters are compared with each other
	maxWindows = 64   // of a process value
)

// typicalStep returns the median distance of an id to the next higher counter, in
// windows of ids that follow each other in time. Neither restarts nor clock steps nor
// other processes change it much.
func typicalStep(e extent) int64 {
	n := e.len()
	windows := min((n+windowIDs-1)/windowIDs, maxWindows)
	var steps []uint32
	counters := make([]uint32, 0, windowIDs)
	for w := range windows {
		from := e.i
		if windows > 1 {
			from += (n - windowIDs) / (windows - 1) * w
		}
		counters = counters[:0]
		for i := from; i < min(from+windowIDs, e.j); i++ {
			counters = append(counters, e.list.at(i).counter())
		}
		slices.Sort(counters)
		for i := 1; i < len(counters); i++ {
			if d := counters[i] - counters[i-1]; d > 0 {
				steps = append(steps, d)
			}
		}
	}
	if len(steps) == 0 {
		return 1
	}
	slices.Sort(steps)
	return int64(steps[len(steps)/2])
}
