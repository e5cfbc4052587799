package judge

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/oidkit/oid/objectid"
)

// counters is the number of values of a counter.
const counters = 1 << 24

// hexLine is the length of an id in hexadecimal digits.
const hexLine = 24

// Stream is what the ids of one process showed. One goroutine uses it.
type Stream struct {
	name    string
	process string // the same for streams of one process
	pid     int
	clock   *Clock
	want    int64

	ids     int64
	first   objectid.ID
	second  uint32 // of the last id
	low     uint64 // the last eight bytes of the last id
	open    run    // that the last id belongs to
	wraps   int64  // overflows of the counter
	settled int64  // ids whose second is judged
	pace    pace
	counter movement
	seen    seen
	found   findings
}

// IDs returns the number of ids.
func (s *Stream) IDs() int64 { return s.ids }

// lines judges the ids in whole lines, until there are as many as are wanted, and returns
// what is left. The error is that of the line which follows if that is not an id.
func (s *Stream) lines(text []byte) (rest []byte, err error) {
	for len(text) > 0 && s.ids < s.want {
		var id objectid.ID
		if len(text) > hexLine && text[hexLine] == '\n' && id.UnmarshalText(text[:hexLine]) == nil {
			text = text[hexLine+1:]
		} else {
			line, after, _ := bytes.Cut(text, []byte{'\n'})
			if !readID(&id, bytes.TrimSpace(line)) {
				err = fmt.Errorf("%s, line %d is not an id: %.60q", s.name, s.ids+1, bytes.TrimSpace(line))
				break
			}
			text = after
		}
		s.add(binary.BigEndian.Uint32(id[:]), binary.BigEndian.Uint64(id[4:]))
	}
	s.settle(s.ids)
	return text, err
}

// readID reads an id from a line, its digits or JSON, and reports whether it is one.
func readID(id *objectid.ID, line []byte) bool {
	return id.UnmarshalText(line) == nil || len(line) > 0 && (line[0] == '"' || line[0] == '{') && id.UnmarshalJSON(line) == nil
}

// add judges the next id.
func (s *Stream) add(second uint32, low uint64) {
	s.ids++
	if second == s.second && low == s.low+1 && low&(counters-1) != 0 {
		s.low = low
		return
	}
	if s.ids == 1 {
		s.first = idOf(second, low)
	} else {
		s.compare(second, low)
	}
	s.second, s.low = second, low
	s.open = run{second, low, low}
}

// overflow is how near to its end a counter is before it overflows, and to its begin
// after that: some leave out a value.
const overflow = 16

// compare judges an id by the one before, which is not the id just before it in the same
// run. An id that decreases breaks a promise whatever made it decrease; what value and
// counter do is judged here only where two ids show it:
//
//	process value  counter                second    is
//	another                               the next  ProcessValue
//	the same       overflows              any       a step
//	the same       one more               any       a step
//	the same       0 after 2^n-1          any       CounterStep
//	the same       any other              any       a jump, which movement judges at the end
func (s *Stream) compare(second uint32, low uint64) {
	s.closeRun()
	if second == s.second && low == s.low {
		return // the run that begins here repeats an id
	}
	value, before := low>>24, s.low>>24
	counter, previous := low&(counters-1), s.low&(counters-1)
	expected := (s.low + 1) & (counters - 1)
	wrapped := counter < overflow && previous >= counters-overflow
	// A carry into the last byte of the process value is undone in the next second.
	sameValue := value == before || value>>8 == before>>8 && (low == s.low+1 || counter == expected && second != s.second)
	jump := int64(second) - int64(s.second)
	if second < s.second || second == s.second && low < s.low && sameValue {
		p, cause := Order, ""
		if second == s.second && wrapped {
			p, cause = CounterWrap, "the counter overflowed within a second"
		} else if second < s.second && s.clock.mode == Back {
			cause = "the clock was set back"
		}
		s.breach(p, cause, second, low)
	}
	switch {
	case !sameValue:
		if jump <= 1 { // a generator may take a clock step for the end of a suspension
			s.breach(ProcessValue, "the process value changes from one id to the next", second, low)
		}
		s.counter.advance(s.counter.most + 1 - s.counter.position)
	case wrapped:
		s.wraps++
		s.counter.overflow(previous, counter)
	case counter == expected:
		s.counter.advance(1)
	case counter == 0 && expected >= leastWrap && expected&previous == 0:
		s.breach(CounterStep, fmt.Sprintf("the counter overflows at 2^%d, not at 2^24", bits.TrailingZeros64(expected)), second, low)
		s.counter.advance(1)
	case s.counter.jump(previous, counter, jump == 0):
		s.counter.example = s.example(second, low)
	}
	if jump > 0 && sameValue {
		s.counter.next(counter, counter == expected)
	}
	if jump != 0 {
		s.settle(s.ids - 1)
	}
}

// closeRun remembers the ids of the run up to the last one.
func (s *Stream) closeRun() {
	s.open.hi = s.low
	s.counter.advance(int64(s.open.hi - s.open.lo))
	s.seen.add(s.open, s.repeated)
}

// breach records that the id and the one before break a promise.
func (s *Stream) breach(p Promise, cause string, second uint32, low uint64) {
	example := ""
	if s.found[p].Times == 0 {
		example = s.example(second, low)
	}
	s.found.add(p, 1, cause, example)
}

// example shows an id and the one before.
func (s *Stream) example(second uint32, low uint64) string {
	return fmt.Sprintf("%s, id %d: %v after %v", s.name, s.ids, idOf(second, low), idOf(s.second, s.low))
}

// repeated records ids that are in the stream more than once.
func (s *Stream) repeated(ids int64, r run) {
	s.found.add(NoRepeats, ids, "", fmt.Sprintf("%s: %v comes again", s.name, idOf(r.second, r.lo)))
}

// settle judges the second of the ids up to a number, which all have that of the last one
// if they are not judged yet.
func (s *Stream) settle(upTo int64) {
	n, c := upTo-s.settled, s.clock
	if s.settled = upTo; n == 0 {
		return
	}
	s.pace.see(c, s.second)
	if first, last := c.window(s.wraps); int64(s.second) < first || int64(s.second) > last {
		s.found.add(Second, n, c.cause(s.second, first, last), fmt.Sprintf("%s, id %d: %v, of %s; read at %s",
			s.name, upTo, idOf(s.second, s.low), timeText(int64(s.second)), c.to.at.UTC().Format(time.RFC3339)))
	}
}

// end judges what only the end of the stream shows.
func (s *Stream) end() {
	s.closeRun()
	s.seen.compact(s.repeated)
	if slices.ContainsFunc(s.seen.runs, func(r run) bool { return r.hi-r.lo >= counters-overflow }) {
		s.found.explain(NoRepeats, "there are more than 2^24 ids in a second")
	}
	if p, cause := s.counter.judge(s.ids, s.ids-s.found[NoRepeats].Times, s.seen.forgotten); p != "" {
		s.found.add(p, max(s.counter.jumps, 1), cause, s.counter.example)
	}
	s.found.explain(Second, s.pace.cause())
	if s.clock.set {
		delete(s.found, Second)
	}
}

// value returns the process value of the first id.
func (s *Stream) value() uint64 { return binary.BigEndian.Uint64(s.first[4:]) >> 24 }

// start returns the counter of the first id.
func (s *Stream) start() uint64 { return binary.BigEndian.Uint64(s.first[4:]) % counters }

// idOf returns the id of a second with the last eight bytes low.
func idOf(second uint32, low uint64) (id objectid.ID) {
	binary.BigEndian.PutUint32(id[:], second)
	binary.BigEndian.PutUint64(id[4:], low)
	return id
}

// maxRuns is how many runs a stream remembers: 32 MiB of them, and as much to sort them.
const maxRuns = 2 << 20

// run is a range of ids of one second, each one more than the one before.
type run struct {
	second uint32
	lo, hi uint64 // the last eight bytes of the first and the last id
}

func (r run) compare(o run) int {
	return cmp.Or(cmp.Compare(r.second, o.second), cmp.Compare(r.lo, o.lo))
}

// seen remembers ids. A generator whose counter increases by one needs one run for a
// second; beyond maxRuns the oldest are forgotten.
type seen struct {
	runs      []run
	forgotten bool
}

// add remembers a run. It reports a number of ids that are there already, with the first
// of them, at times, and the rest when compact is called.
func (s *seen) add(r run, found func(ids int64, first run)) {
	s.runs = append(s.runs, r)
	if len(s.runs) < maxRuns {
		return
	}
	s.compact(found)
	if len(s.runs) > maxRuns/2 {
		s.runs = slices.Delete(s.runs, 0, len(s.runs)-maxRuns/2)
		s.forgotten = true
	}
}

// compact sorts the runs, reports what they repeat, and joins those that overlap or adjoin:
//
//	runs   aaaaaa         dddd     one second, from the lowest id on
//	          bbbbbb
//	                cc
//	kept   aaaaaaaaacc    dddd     three ids of b are reported: they are in a, too
func (s *seen) compact(found func(ids int64, first run)) {
	slices.SortFunc(s.runs, run.compare)
	kept := s.runs[:0]
	for _, r := range s.runs {
		last := len(kept) - 1
		if last < 0 || kept[last].second != r.second || r.lo > kept[last].hi+1 {
			kept = append(kept, r)
			continue
		}
		if end := min(kept[last].hi, r.hi); r.lo <= end {
			found(int64(end-r.lo)+1, r)
		}
		kept[last].hi = max(kept[last].hi, r.hi)
	}
	s.runs = kept
}

// common reports the ids that are in both, which are compact.
func (s *seen) common(o *seen, found func(ids int64, first run)) {
	for i, j := 0, 0; i < len(s.runs) && j < len(o.runs); {
		a, b := s.runs[i], o.runs[j]
		low, high := max(a.lo, b.lo), min(a.hi, b.hi)
		if a.second == b.second && low <= high {
			found(int64(high-low)+1, run{a.second, low, high})
		}
		if cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.hi, b.hi)) < 0 {
			i++
		} else {
			j++
		}
	}
}

const (
	// leastWrap is the smallest number of values of a counter whose overflow is
	// recognised.
	leastWrap = 1 << 16

	// pool is how many ids at least may wait to be handed out at the end, if ids are
	// handed out in another order than that of their creation; with many ids, a quarter
	// of them may.
	pool = 10_000
)

// movement is how the counter of a process moves. Positions are the number of steps since
// the first id, as if it never overflowed.
type movement struct {
	position, least, most int64
	back                  int64 // by which it was at most before the furthest position
	skipped               int64 // counters that were left out at an overflow

	jumps, within int64 // steps by another number than one, and those within a second
	example       string

	seconds, resets int64  // how often a second began, and how often the counter did not go on then
	start           uint64 // the counter after the last reset
	again           int64  // resets to the same counter as the last one
}

// advance moves the counter by a number.
func (c *movement) advance(by int64) {
	c.position += by
	c.least, c.most = min(c.least, c.position), max(c.most, c.position)
	c.back = max(c.back, c.most-c.position)
}

// move moves from one counter to another, and returns by which number.
func (c *movement) move(from, to uint64) int64 {
	by := int64(int32(uint32(to-from)<<8) >> 8)
	c.advance(by)
	return by
}

// overflow moves over the end, where some counters leave out a value.
func (c *movement) overflow(from, to uint64) { c.skipped += max(c.move(from, to)-1, 0) }

// jump moves to a counter that does not follow. It reports whether that is the first time.
func (c *movement) jump(from, to uint64, sameSecond bool) bool {
	c.move(from, to)
	c.jumps++
	if sameSecond {
		c.within++
	}
	return c.jumps == 1
}

// next takes the first counter of a second, and whether it follows the one before.
func (c *movement) next(counter uint64, follows bool) {
	c.seconds++
	if follows {
		return
	}
	c.resets++
	if counter == c.start || c.resets == 1 && counter <= 1 {
		c.again++
	}
	c.start = counter
}

// judge returns the promise that the counter of some ids breaks, and why, or "". distinct
// is how many of them are different, unless some were forgotten. The counter may be handed
// out in any order, as from a pool, if each is handed out once.
func (c *movement) judge(ids, distinct int64, forgotten bool) (p Promise, cause string) {
	span := c.most - c.least + 1
	left, reused := span-ids-c.skipped, distinct-span
	if forgotten {
		reused = 0
	}
	switch {
	case c.least == 1-ids && ids > pool: // no pool is that large
		return CounterStep, "the counter decreases"
	case left <= min(c.back, max(pool, ids/4)) && reused <= 0:
		return "", ""
	case c.within == 0 && c.again >= max(c.resets-1, 1):
		return NextSecond, fmt.Sprintf("the counter begins again at %d with each second", c.start)
	case c.within == 0:
		return NextSecond, "the counter begins at another value with each second"
	case reused > 0:
		return CounterStep, fmt.Sprintf("%d counters come again in a later second", reused)
	}
	return CounterStep, fmt.Sprintf("%d of %d steps are not by one, and leave out %d counters", c.jumps, ids-1, left)
}
