package census

import (
	"slices"

	"github.com/oidkit/oid/census/internal/idset"
)

// process is what a census knows about one process. Its ids have one process value, or
// several consecutive ones if its counter continued from one value into the next.
type process struct {
	value uint64 // the first process value
	ids   int64  // different ids
	first uint32 // first second
	last  uint32 // last second
	gaps  int64
	jumps int64

	followed struct{ gaps, jumps int64 } // what gaps and jumps were before judge replaced them

	values int          // number of process values
	begin  idset.Record // first record of the first process value

	idset.Extent                // records of the first process value, valid within its process block
	more         []idset.Extent // records of the other process values, see joins
	start        int64          // first counter
	end          int64          // last counter

	timeline []int64 // ids by bucket, for processes that a report lists

	verdict // zero if the process has no breaks
}

// count counts the ids of one process value. The records are sorted by time.
func (t *tally) count(e idset.Extent) {
	value := e.Value()
	p := process{value: value, values: 1, begin: *e.At(0), Extent: e}
	mayBeBound, isLeftOut := value == idset.LowTail || value == idset.HighTail, t.leavesOut(e)
	mayLackTime := isLeftOut || mayBeBound || value>>8 == 0 // the last byte may belong to the term of an electionId
	f := t.countIDs(&p, mayLackTime, isLeftOut)
	if p.ids == 0 {
		return // no id has a time
	}
	p.gaps, p.jumps = f.gaps, f.jumps
	p.followed.gaps, p.followed.jumps = f.gaps, f.jumps
	p.start, p.end = f.start, f.at
	if t.pending.ids > 0 && t.pending.joins(&p) {
		return
	}
	// A value with bounds is not judged: no driver generated its ids.
	if f.widest > stepLimit(1) && !mayBeBound {
		t.judge(&p)
	}
	for _, g := range t.missing {
		if !p.explains(g) {
			t.history.addGaps(g.from, g.to, g.n)
		}
	}
	t.flush()
	t.pending = p
}

// countIDs counts the ids of p second by second, and follows its counter. If mayLackTime is
// true, some of the ids may hold no time; if isLeftOut is true, none does.
func (t *tally) countIDs(p *process, mayLackTime, isLeftOut bool) follower {
	f := follower{at: -1, above: counterSpan{-1, -1}, wrapped: counterSpan{-1, -1}}
	s := secondCount{bucket: -1}
	t.missing = t.missing[:0]
	t.ids += int64(p.Len())
	var prev idset.Record
	repeats := -1 // how often prev was repeated; -1 before the first record
	for records := range p.Spans() {
		for _, r := range records {
			lacksTime := mayLackTime && t.sightTimeless(r, isLeftOut)
			if repeats >= 0 && r.SameID(prev) {
				if !lacksTime {
					s.ids++
				}
				if repeats == 0 {
					t.repeated++
					t.duplicates.add(0, prev, r)
				}
				t.duplicates.count++
				repeats++
				continue
			}
			repeats, prev = 0, r
			t.distinct++
			if lacksTime {
				continue
			}
			if p.ids == 0 {
				p.first = r.Second()
				t.beginSecond(&s, &f, r)
			} else if r.Second() != s.at {
				t.endSecond(&s, &f)
				t.beginSecond(&s, &f, r)
			}
			s.ids++
			s.distinct++
			p.ids++
			if s.isPlausible {
				f.add(r.Counter())
			}
		}
	}
	if p.ids > 0 {
		t.endSecond(&s, &f)
		p.last = s.at
	}
	return f
}

// explains reports whether a fault explains missing counters, so that they are not gaps: the
// value is shared, a clock step is in the same time, or there are more clock steps than v has
// examples.
func (v *verdict) explains(m gapSpan) bool {
	if v.found[shared].bits > 0 || len(v.found[stepped].examples) == maxExamples {
		return true
	}
	for step := range slices.Chunk(v.found[stepped].examples, 2) {
		if m.from <= step[0].Second() && m.to >= step[1].Second() {
			return true
		}
	}
	return false
}

// judge judges p, whose counter has breaks. The gaps and jumps of the verdict replace those that
// were counted before, unless p has too few ids in the data or only a part was judged.
func (t *tally) judge(p *process) {
	e := p.Extent
	from := e.Search(0, func(r idset.Record) bool { return r.Second() >= earliest })
	to := e.Search(from, func(r idset.Record) bool { return r.Second() > t.latest })
	p.verdict = judge(e.Part(from, to), p.value)
	if p.doubt == DoubtFewIDs {
		return
	}
	t.broken++
	if !p.isPart {
		p.gaps, p.jumps = p.verdict.gaps, p.restarts
	}
}

// secondCount counts the ids of one second of one process.
type secondCount struct {
	at          uint32
	ids         int64
	distinct    int64
	first       idset.Record
	isPlausible bool  // neither before 2009 nor in the future
	bucket      int   // index in the timeline, or -1
	until       int64 // bucket is valid before this second
}

// beginSecond begins the second of r, its first record.
func (t *tally) beginSecond(s *secondCount, f *follower, r idset.Record) {
	s.at, s.ids, s.distinct, s.first = r.Second(), 0, 0, r
	if s.isPlausible = s.at >= earliest && s.at <= t.latest; s.isPlausible {
		f.enter(s.at)
	}
	if int64(s.at) >= s.until || s.bucket < 0 {
		s.bucket, s.until = t.axis.bucket(s.at)
	}
}

// endSecond adds the ids of a second to the timeline and to the history.
func (t *tally) endSecond(s *secondCount, f *follower) {
	if s.isPlausible {
		f.end()
		t.missing.add(s.at-f.elapsed, s.at, f.missing)
	}
	if s.bucket >= 0 {
		t.counts[s.bucket] += s.ids
	} else {
		t.off += s.ids
	}
	t.history.add(s.at, s.distinct)
	switch {
	case s.at > t.latest:
		t.future.add(s.distinct, s.first)
	case s.at < earliest:
		t.early.add(s.distinct, s.first)
	}
}

// follower follows the counter of a process and counts gaps and jumps. It gets the ids sorted
// by second and counter. Each second continues where the second before ended, and the
// counter may wrap around from FFFFFF to 000000 within a second:
//
//	000000 | wrapped: first..last |      | at | above: first..last | FFFFFF
//
// The counters above at come first, then the wrapped ones. At the end of the second, at is set
// to the last of them.
type follower struct {
	start int64 // first counter
	at    int64 // counter at the end of the last second, or -1 before the first

	above, wrapped counterSpan // counters of the current second: those above at, and the others

	gaps, jumps int64
	widest      int64 // the greatest increase at once

	// missing is how many counters are missing since the second before, elapsed seconds
	// ago. Unlike gaps, it does not include more counters than the mean pace explains.
	missing      int64
	second       uint32 // the current second
	elapsed      uint32
	moved, lived int64 // how many counters and seconds have passed; their ratio is the mean pace
}

// gapSpan is n missing counters between two seconds.
type gapSpan struct {
	from, to uint32
	n        int64
}

// gapSpans is the missing counters of one process, in order of time.
type gapSpans []gapSpan

// add adds n missing counters. Gaps in the same hour are joined.
func (l *gapSpans) add(from, to uint32, n int64) {
	if n == 0 {
		return
	}
	if k := len(*l) - 1; k >= 0 && (*l)[k].from/secondsPerHour == to/secondsPerHour {
		(*l)[k].to = to
		(*l)[k].n += n
		return
	}
	*l = append(*l, gapSpan{from, to, n})
}

// counterSpan is the counters from first to last. It is empty if last is -1.
type counterSpan struct{ first, last int64 }

// enter makes second the current one.
func (f *follower) enter(second uint32) {
	if f.at >= 0 {
		f.elapsed = second - f.second
	}
	f.second = second
}

// add adds the next counter of the current second.
func (f *follower) add(counter uint32) {
	c := int64(counter)
	s := &f.above
	if c <= f.at {
		s = &f.wrapped
	}
	if s.last < 0 {
		s.first = c
	} else if c-s.last > 1 {
		f.move(s.last, c)
	}
	s.last = c
}

// end ends the current second.
func (f *follower) end() {
	f.missing = 0
	f.lived += int64(f.elapsed)
	if f.above.last >= 0 {
		if f.at >= 0 {
			f.move(f.at, f.above.first)
		} else {
			f.start = f.above.first
		}
		f.at = f.above.last
	}
	if f.wrapped.last >= 0 {
		f.move(f.at, f.wrapped.first)
		f.at = f.wrapped.last
	}
	f.above.last, f.wrapped.last = -1, -1
}

// move counts the gaps or the jump between two consecutive counters.
func (f *follower) move(from, to int64) {
	steps := (to - from) & idset.CounterMask
	switch {
	case steps == 0: // the same counter in a later second
		steps = idset.CounterRange
	case steps == 1:
		return
	case steps > maxGap:
		f.jumps++
	default:
		f.gaps += steps - 1
		if pace := float64(f.moved) / float64(f.lived+1); float64(steps) <= stepFactor+paceFactor*pace*float64(f.elapsed+1) {
			f.missing += steps - 1
		}
		f.moved += steps
	}
	f.widest = max(f.widest, steps)
}

// joins adds next to p if both are the same process, and reports whether they are. The process
// value of next is one more than that of p. Counters of two layouts can overflow into the
// last byte of the process value:
//
//   - The counter of the Java layout has four bytes. Its upper byte is the last byte of the
//     process value and changes once in 2^24 ids. The process never returns to the value
//     before: p continues in next.
//   - If the counter of a Modern generator of this module overflows, the generator borrows the
//     next process value for the rest of that second. Then it returns: p borrows next.
//
// In the order of time, with + for the process value of next:
//
//	Java    p FFFFFD  p FFFFFE  p FFFFFF  + 000000  + 000001   then only +
//	Modern  p FFFFFE  p FFFFFF  + 000000  + 000001  p 000002   p from the next second on
func (p *process) joins(next *process) bool {
	if p.value+uint64(len(p.more))+1 != next.value || next.value&0xFF == 0 {
		return false
	}
	if p.continuesIn(next) {
		p.gaps += next.gaps + idset.CounterRange - 1 - p.end + next.start
		p.end = next.end
	} else if gaps, jumps, ok := p.borrows(next); ok {
		// What looked like gaps or jumps of p are the counters of next.
		p.followed.gaps += gaps
		p.followed.jumps -= jumps
		if jumps > 0 && p.followed.jumps == 0 {
			p.verdict = verdict{} // there was nothing else to judge
			p.gaps, p.jumps = p.followed.gaps, 0
		} else {
			p.gaps += gaps
			p.jumps -= jumps
		}
		next.jumps = 0 // its jumps are from one overflow of p to the next overflow
	} else {
		return false
	}
	p.jumps += next.jumps
	p.ids += next.ids
	p.first, p.last = min(p.first, next.first), max(p.last, next.last)
	p.more = append(p.more, next.Extent)
	p.values++
	return true
}

// continuesIn reports whether the counter of p overflowed into next once and for all.
func (p *process) continuesIn(next *process) bool {
	return next.first >= p.last && p.end > idset.CounterRange-maxGap && next.start < maxGap && next.jumps == 0
}

// borrows reports whether p borrowed next, once or several times: whenever next created ids,
// the counter of p before was near its end, and the counter of p after continues where next
// stopped. It returns what must be added to the gaps of p, and how many jumps of p are not
// jumps because next has the ids.
func (p *process) borrows(next *process) (gaps, jumps int64, ok bool) {
	if next.first < p.first || next.last > p.last {
		return 0, 0, false
	}
	own, n := p.Extent, next.Extent
	for i, seconds := 0, 0; i < n.Len(); seconds++ {
		s := n.At(i).Second()
		later := func(r idset.Record) bool { return r.Second() > s }
		end := n.Search(i, later)
		after := own.Search(0, later)
		if seconds == maxBorrowed || after == 0 {
			return 0, 0, false
		}
		before, stopped := int64(own.At(after-1).Counter()), int64(n.At(end-1).Counter())
		if before < idset.CounterRange-maxGap || n.At(i).Counter() > maxGap {
			return 0, 0, false
		}
		gaps += idset.CounterRange - 1 - before + stopped + 1 - int64(end-i)
		if after < own.Len() {
			on := int64(own.At(after).Counter())
			switch step, seen := (on-stopped)&idset.CounterMask, (on-before)&idset.CounterMask; {
			case step > 0 && step <= maxGap && seen > maxGap:
				gaps += step - 1
				jumps++
			case step > 0 && step <= maxGap:
				gaps += step - seen
			case stopped < idset.CounterRange-maxGap: // p did not borrow the value after next, either
				return 0, 0, false
			}
		}
		i = end
	}
	return gaps, jumps, true
}
