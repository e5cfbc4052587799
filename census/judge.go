package census

import (
	"math"
	"slices"
)

// A process that is suspect is judged in the order of its counter. The counter has
// 24 bits, so that order is not given: it is found by following, second by second,
// the one or several sequences that the ids form, and by giving every id the number
// of times that its sequence has wrapped. The result needs no memory of its own,
// because the 40 bits of a record that hold the process value are the same in all of
// them. A record by counter is:
//
//	hi  wraps (40 bits) | counter (24 bits): the unwrapped counter
//	lo  second (32 bits) | place (32 bits)

const firstWrap = 1 << 38 // so that sequences can also be followed backwards

// byCounter returns the record by counter of r's id.
func byCounter(r record, unwrapped int64) record {
	return record{uint64(unwrapped + firstWrap<<counterBits), uint64(r.second())<<placeBits | uint64(r.place())}
}

func (r record) unwrapped() int64        { return int64(r.hi) - firstWrap<<counterBits }
func (r record) secondByCounter() uint32 { return uint32(r.lo >> placeBits) }

// byTime is the inverse of byCounter.
func byTime(r record, value uint64) record {
	second := r.secondByCounter()
	return record{
		value<<counterBits | uint64(second>>8),
		uint64(second)<<56 | (r.hi&counterMask)<<placeBits | r.lo&placeMask,
	}
}

// sequence is a sequence of counters of which each continues from the one before.
type sequence struct {
	at     int64 // unwrapped counter of the last one
	second uint32
}

// sequences are the sequences of one process value.
type sequences struct {
	list       []sequence
	latest     int  // the sequence of the last id
	alternates bool // several processes, and not ids elsewhere, explain big moves
}

// unwrap returns the unwrapped counter of an id of the given second.
func (ss *sequences) unwrap(counter, second uint32) int64 {
	c := int64(counter)
	best, least := -1, int64(math.MaxInt64)
	behind, overtaken := -1, int64(maxStale)
	for i, s := range ss.list {
		reach := maxRateElsewhere * (int64(second-s.second) + 1)
		if ss.alternates {
			reach = bigMove
		}
		ahead := (c - s.at) & counterMask
		if ahead <= reach && ahead < least {
			best, least = i, ahead
		}
		if back := (s.at - c) & counterMask; back < overtaken {
			behind, overtaken = i, back
		}
	}
	switch {
	case best >= 0:
		ss.list[best].at += least
		ss.list[best].second = second
		ss.latest = best
		return ss.list[best].at
	case behind >= 0:
		return ss.list[behind].at - overtaken
	case len(ss.list) == 0:
		ss.list = append(ss.list, sequence{c, second})
		return c
	case len(ss.list) < maxSequences:
		// A new sequence, on the nearer side of the one that it is nearest to.
		unwrapped, distance := int64(0), int64(math.MaxInt64)
		for _, s := range ss.list {
			d := signed(c - s.at)
			if max(d, -d) < distance {
				unwrapped, distance = s.at+d, max(d, -d)
			}
		}
		ss.latest = len(ss.list)
		ss.list = append(ss.list, sequence{unwrapped, second})
		return unwrapped
	}
	s := &ss.list[ss.latest]
	s.at += (c - s.at) & counterMask
	s.second = second
	return s.at
}

// signed returns the shortest move between two counters whose difference is d.
func signed(d int64) int64 {
	d &= counterMask
	if d >= counterRange/2 {
		d -= counterRange
	}
	return d
}

// judge finds out whether several processes used the process value of p, or its
// clock was set backwards.
func (t *tally) judge(p *process) {
	ss := sequences{list: make([]sequence, 0, maxSequences), alternates: p.alternates}
	v := p.orderByCounter(func(r record) int64 { return ss.unwrap(r.counter(), r.second()) })
	p.gaps, p.jumps = v.gaps, v.jumps
	switch {
	case v.conflicts > 0 || v.interleaved() || v.overlaps():
		p.shared = true
		p.gaps, p.jumps = 0, 0 // what is between two sequences is not a gap of either
		t.shared.add(p, v.sharers()...)
	case len(v.steps) > 0:
		p.stepped = true
		t.stepped.add(p, v.steps.records()...)
	}
	p.orderByTime()
}

// mayHaveStepped reports whether the jumps of p may in truth be clock steps.
func (p *process) mayHaveStepped() bool {
	return p.jumps > 0 && p.jumps <= maxStepJumps && p.ids >= minStepIDs && p.ids <= maxGap
}

// judgeSteps finds out whether the ids of p, taken as one sequence of counters that
// never wrapped, are close together without a gap where time goes backwards. Then
// its clock was wrong for a while, and the counter has not wrapped.
func (t *tally) judgeSteps(p *process) {
	start := int64(p.list.at(p.i).counter())
	v := p.orderByCounter(func(r record) int64 { return start + signed(int64(r.counter())-start) })
	if n := len(v.steps); n > 0 && n <= maxSteps && v.conflicts == 0 && !v.interleaved() && v.jumps == 0 && v.isClose() {
		p.gaps, p.jumps, p.stepped = v.gaps, 0, true
		t.stepped.add(p, v.steps.records()...)
	}
	p.orderByTime()
}

// orderByCounter sorts the records of p by unwrapped counter and returns their view.
func (p *process) orderByCounter(unwrap func(record) int64) *view {
	for records := range p.spans() {
		for k, r := range records {
			records[k] = byCounter(r, unwrap(r))
		}
	}
	p.list.sort(p.i, p.j)
	return newView(p.extent)
}

// orderByTime undoes orderByCounter.
func (p *process) orderByTime() {
	for records := range p.spans() {
		for k, r := range records {
			records[k] = byTime(r, p.value)
		}
	}
	p.list.sort(p.i, p.j)
}

// suspects counts processes with some finding. The first come with ids that show it.
type suspects struct {
	count    int64
	examples [][]record
}

func (s *suspects) merge(other suspects) {
	s.count += other.count
	s.examples = append(s.examples, other.examples[:min(len(other.examples), maxExamples-len(s.examples))]...)
}

// add counts p. Its examples are records by counter.
func (s *suspects) add(p *process, examples ...record) {
	s.count++
	if len(s.examples) == maxExamples {
		return
	}
	examples = slices.Clone(examples)
	for i, r := range examples {
		examples[i] = byTime(r, p.value)
	}
	s.examples = append(s.examples, examples)
}
