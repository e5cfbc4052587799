package census

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/internal/phrase"
)

// The ids of a process value that has breaks are divided into lines. A line is a sequence of
// ids in order of time in which each id continues the counter of the id before. A healthy
// process makes one line, as long as its counter increases by a few typical steps at a time.
// A restart, a clock step and a second process each begin another line:
//
//	counter
//	   |         0           |      1              |       0     0
//	   |       0             |    1                |   0     0
//	   |     0        1      |          0          |
//	   |            1        |        0            |       1     1
//	   |          1          |      0              |     1     1
//	   +---------------------+---------------------+------------------ time
//	     a restart: line 1     the clock was set     two processes with one
//	     begins anywhere       back: line 1 goes     value take turns: each
//	                           on where 0 ends       change of line is a turn
//
// When follow has found the line of a record, it replaces the record by a linked one in the
// same memory. The 40 bits of the process value, equal in all records, make room for that.

const (
	wrapBits      = 20
	unwrappedBits = wrapBits + idset.CounterBits
	unwrappedMask = 1<<unwrappedBits - 1

	maxLines = 1 << 14 // the most lines of one process value; later ids are not judged
)

// linked is the record of an id in a line. As numbers of 128 bits, linked records are sorted
// by line, unwrapped counter, second and place:
//
//	Hi  index of the line (20 bits) | wraps (20 bits) | counter (24 bits)
//	Lo  second (32 bits) | place (32 bits)
//
// The unwrapped counter, wraps and counter together, keeps increasing when the counter wraps
// around.
type linked idset.Record

// link returns the linked record for r in the line with an index.
func link(r idset.Record, index int, unwrapped int64) linked {
	return linked{uint64(index)<<unwrappedBits | uint64(unwrapped), uint64(r.Second())<<idset.PlaceBits | uint64(r.Place())}
}

// linkedAt returns record i of e, whose records are linked ones.
func linkedAt(e idset.Extent, i int) linked { return linked(*e.At(i)) }

func (r linked) line() int        { return int(r.Hi >> unwrappedBits) }
func (r linked) unwrapped() int64 { return int64(r.Hi & unwrappedMask) }
func (r linked) second() uint32   { return uint32(r.Lo >> idset.PlaceBits) }
func (r linked) place() uint32    { return uint32(r.Lo) }

// unlink returns the original record. value is its process value.
func (r linked) unlink(value uint64) idset.Record {
	return idset.RecordOf(value, r.second(), uint32(r.Hi)&idset.CounterMask, r.place())
}

// line is a sequence of ids in which each continues the counter of the one before.
type line struct {
	from, at int64  // first and last unwrapped counter
	start    linked // the id with the counter from
	end      linked // the id with the counter at
	first    uint32 // first second
	last     uint32 // last second, which is the current one while lines are followed
	ids      int64  // different ids

	previous uint32 // the last second with ids before the current one
	before   int64  // the counter at the end of second previous
	earlier  int64  // the counter at the end of the second with ids before previous

	pace    int64 // the most counters in a second
	entered int64 // the counter after the first id of the current second
	racing  int64 // in how many seconds the counter increased by more than half its range
	nearest int64 // distance from the start of the line to the end of a recent line

	cluster int   // index of the cluster
	shift   int64 // see unite
}

func (l *line) length() int64 { return l.at - l.from }

// lateZone returns how far below l.at the counter of a late id may be. An id is late if its
// thread read the clock, was overtaken by other threads, and then took its counter. second is
// the second of the id.
func (l *line) lateZone(second uint32) int64 {
	floor := l.earlier
	switch {
	case second-l.last >= minStep:
		floor = l.at
	case second != l.last, second-l.previous >= minStep:
		floor = l.before
	}
	zone := l.at - floor
	if second-l.first < minStep {
		zone = l.length() + maxStale
	}
	return min(zone, idset.CounterRange/4)
}

// enter makes second the current one.
func (l *line) enter(second uint32) {
	if second == l.last {
		return
	}
	l.measure()
	l.earlier, l.before, l.previous, l.last = l.before, l.at, l.last, second
}

// measure updates pace and racing at the end of the current second.
func (l *line) measure() {
	if l.at-l.entered > idset.CounterRange/2 {
		l.racing++
	}
	l.pace = max(l.pace, (l.at-l.before)/int64(max(l.last-l.previous, 1)))
}

// isIdle reports whether, at the given second, l has had no id for much longer than usual.
func (l *line) isIdle(second uint32) bool {
	return int64(second) > int64(l.last)+idleFactor*(int64(l.last-l.first)/l.ids+1)
}

// turn is a change between lines: an id continues the line to after an id of the line from.
// The closer the id is to the end of its line, the more bits of evidence it is worth.
type turn struct {
	to, from int // indexes of lines
	bits     int
}

// lineSet is the lines of one process value.
type lineSet struct {
	list   []line
	byEnd  []int          // indexes of lines, by the last counter modulo 2^24
	recent []int          // indexes of the lines that got ids last, the latest first
	limit  int64          // how far the counter of a line may increase at once
	late   int64          // number of late ids
	turns  map[turn]int64 // how often each turn happened
	loose  int64          // ids that begin a line, or continue one perhaps by chance
	first  idset.Record   // the first loose id in the latest second that has one
	rapid  int64          // loose ids that are further from first than a process counts in a second
}

// maxRecent is how many recent lines may get a late id.
const maxRecent = 8

// follow divides the records of e, which are in order of time, into lines, and links them. It
// returns how many records it linked: all, unless there are too many lines.
func follow(e idset.Extent, step int64) (*lineSet, int) {
	ls := &lineSet{limit: stepLimit(step), turns: map[turn]int64{}}
	for i := 0; i < e.Len(); {
		second := e.At(i).Second()
		j := i + 1
		for j < e.Len() && e.At(j).Second() == second {
			j++
		}
		k := ls.begin(e, i, j)
		for _, part := range [2][2]int{{k, j}, {i, k}} {
			previous, index, unwrapped := int64(-1), 0, int64(0)
			for n := part[0]; n < part[1]; n++ {
				r := e.At(n)
				if c := int64(r.Counter()); c != previous { // not the same id again
					index, unwrapped = ls.add(c, second, *r)
					previous = c
				}
				*r = idset.Record(link(*r, index, unwrapped))
			}
		}
		if i = j; len(ls.list) > maxLines {
			return ls, i
		}
	}
	for i := range ls.list {
		ls.list[i].measure()
	}
	return ls, e.Len()
}

// begin returns the index of the first id in a second. The records from i to j have this
// second and are sorted by counter, but the counter may have wrapped. If the latest line is in
// use, the first id is the first one above its end; else it is the one after the widest gap.
func (ls *lineSet) begin(e idset.Extent, i, j int) int {
	if len(ls.list) > 0 && !ls.list[ls.recent[0]].isIdle(e.At(i).Second()) {
		at := uint32(ls.list[ls.recent[0]].at & idset.CounterMask)
		return e.Part(0, j).Search(i, func(r idset.Record) bool { return r.Counter() > at })
	}
	begin, widest := i, int64(idset.CounterRange)-int64(e.At(j-1).Counter())+int64(e.At(i).Counter())
	for k := i + 1; k < j; k++ {
		if gap := int64(e.At(k).Counter()) - int64(e.At(k-1).Counter()); gap > widest {
			begin, widest = k, gap
		}
	}
	return begin
}

// add adds an id with counter c to a line and returns the line's index and the unwrapped
// counter. It chooses the line as follows:
//
//   - The line whose end is nearest below c, within limit. If that line is idle, the latest
//     line is preferred.
//   - A recent line whose end is nearer and above c, if c is in its late zone: the id is late.
//   - Else a new line.
func (ls *lineSet) add(c int64, second uint32, r idset.Record) (index int, unwrapped int64) {
	best, distance, late, idle := -1, int64(idset.CounterRange), false, false
	if n := len(ls.byEnd); n > 0 {
		i := ls.byEnd[(ls.place(c)+n-1)%n] // whose end is the nearest one below c
		if ahead := (c - ls.list[i].at) & idset.CounterMask; ahead >= 1 && ahead <= ls.limit {
			best, distance = i, ahead
			// If the line is idle, prefer the latest one.
			now := ls.recent[0]
			if idle = best != now && ls.list[i].isIdle(second); idle {
				if ahead := (c - ls.list[now].at) & idset.CounterMask; ahead >= 1 && ahead <= ls.limit {
					best, distance, idle = now, ahead, false
				}
			}
		}
	}
	if distance > 1 || idle {
		for _, i := range ls.recent {
			l := &ls.list[i]
			if behind := (l.at - c) & idset.CounterMask; behind < l.lateZone(second) && (behind < distance || idle && i == ls.recent[0]) {
				best, distance, late, idle = i, behind, true, false
			}
		}
	}
	if best < 0 || (2*distance+1)*int64(len(ls.list)) > idset.CounterRange>>doubtBits {
		ls.loose++
		if ls.loose == 1 || ls.first.Second() != second {
			ls.first = r
		} else if apart := (c - int64(ls.first.Counter())) & idset.CounterMask; apart >= fastest && apart <= idset.CounterRange-fastest {
			ls.rapid++
		}
	}
	if best < 0 {
		return ls.start(c, second, r)
	}
	if best != ls.recent[0] {
		bits := int(idset.CounterBits - math.Log2(float64(2*distance+1)) - math.Log2(float64(len(ls.list))))
		if t := (turn{best, ls.recent[0], max(bits, 0)}); len(ls.turns) < maxTurns || ls.turns[t] > 0 {
			ls.turns[t]++
		}
		ls.use(best)
	}
	l := &ls.list[best]
	isFirst := second != l.last
	l.enter(second)
	l.ids++
	if unwrapped = l.at - distance; late {
		ls.late++
		if unwrapped < l.from {
			l.from, l.start = unwrapped, link(r, best, unwrapped)
		}
	} else {
		unwrapped = l.at + distance
		ls.move(best, unwrapped)
		l.end = link(r, best, unwrapped)
	}
	if isFirst {
		l.entered = l.at
	}
	return best, unwrapped
}

// start begins a line and returns the same as add.
func (ls *lineSet) start(c int64, second uint32, r idset.Record) (index int, unwrapped int64) {
	index = len(ls.list)
	at := c + idset.CounterRange // leaves room below for late ids
	first := link(r, index, at)
	nearest := int64(idset.CounterRange)
	for _, i := range ls.recent {
		nearest = min(nearest, (c-ls.list[i].at)&idset.CounterMask, (ls.list[i].at-c)&idset.CounterMask)
	}
	ls.list = append(ls.list, line{
		from: at, at: at, start: first, end: first, first: second, last: second, previous: second, ids: 1, before: at - 1, earlier: at - 1, entered: at, nearest: nearest,
	})
	ls.byEnd = slices.Insert(ls.byEnd, ls.place(c+1), index)
	ls.use(index)
	return index, at
}

// place returns the index in byEnd of the first line that ends at c or above.
func (ls *lineSet) place(c int64) int {
	return sort.Search(len(ls.byEnd), func(k int) bool { return ls.list[ls.byEnd[k]].at&idset.CounterMask >= c })
}

// move moves the end of a line to the given counter and keeps byEnd sorted.
func (ls *lineSet) move(index int, at int64) {
	l := &ls.list[index]
	k, old, end := ls.place(l.at&idset.CounterMask), l.at&idset.CounterMask, at&idset.CounterMask
	for ls.byEnd[k] != index {
		k++
	}
	l.at = at
	if end > old && (k+1 == len(ls.byEnd) || ls.list[ls.byEnd[k+1]].at&idset.CounterMask > end) {
		return
	}
	ls.byEnd = slices.Delete(ls.byEnd, k, k+1)
	k = ls.place(end + 1) // after other lines with the same end
	ls.byEnd = slices.Insert(ls.byEnd, k, index)
}

// use makes a line the latest one in recent.
func (ls *lineSet) use(index int) {
	if i := slices.Index(ls.recent, index); i >= 0 {
		ls.recent = slices.Delete(ls.recent, i, i+1)
	}
	ls.recent = slices.Insert(ls.recent, 0, index)
	ls.recent = ls.recent[:min(len(ls.recent), maxRecent)]
}

// stepLimit returns how far the counter of a process may increase at once if step is the typical
// increase. Random steps exceed the limit with a probability of e^-44.
func stepLimit(step int64) int64 {
	return min(stepFactor*step+stepFactor, idset.CounterRange/16)
}

const (
	windowIDs  = 1024 // ids in a window
	maxWindows = 64   // the most windows of a process value
)

// typicalStep returns the typical increase of a counter: the median distance to the next
// higher counter within windows of consecutive ids. Restarts, clock steps and other processes
// have little influence on it.
func typicalStep(e idset.Extent) int64 {
	n := e.Len()
	windows := min((n+windowIDs-1)/windowIDs, maxWindows)
	var steps []uint32
	counters := make([]uint32, 0, windowIDs)
	for w := range windows {
		from := 0
		if windows > 1 {
			from += (n - windowIDs) / (windows - 1) * w
		}
		counters = counters[:0]
		for i := from; i < min(from+windowIDs, n); i++ {
			counters = append(counters, e.At(i).Counter())
		}
		slices.Sort(counters)
		for i := 1; i < len(counters); i++ {
			if d := counters[i] - counters[i-1]; d > 0 {
				steps = append(steps, d)
			}
		}
	}
	return int64(max(median(steps), 1))
}

// judgePace looks for lines that run through half of all counters within a second, several
// times, with few ids. No process does that, but many random counters form such lines.
func (v *verdict) judgePace(ls *lineSet, value uint64) {
	for _, l := range ls.list {
		if l.racing >= minRacing && racingFactor*l.ids < l.racing*idset.CounterRange/2 {
			v.add(noSequence, maxBits, value,
				fmt.Sprintf("In each of %s its counters cover more than half of the 16,777,216 possible values, with only %s in all.",
					phrase.Count(l.racing, "second", "seconds"), phrase.Count(l.ids, "id", "ids")), l.start, l.end)
		}
	}
}

// judgeDisorder looks for counters that do not count up. ids is the number of ids.
func (v *verdict) judgeDisorder(ls *lineSet, ids int64, value uint64) {
	switch {
	case ids < minDisorder || 4*ls.loose <= 3*ids:
	case ls.rapid < minRapid:
		v.doubt = cmp.Or(v.doubt, DoubtNoSequence)
	default:
		v.add(noSequence, maxBits, value,
			fmt.Sprintf("%s of %s do not continue the counter of another id; %s of them are further from it than a process counts within a second.",
				humanize.Comma(ls.loose), phrase.Count(ids, "id", "ids"), humanize.Comma(ls.rapid)), ls.list[0].start, ls.list[len(ls.list)-1].start)
	}
}
