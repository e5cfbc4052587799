package census

import "math"

// A writer that is not simply one process whose clock runs forwards is judged in
// order of its counter. The counter has 24 bits, so that order is not given: it
// is found by following, second by second, the one or several rows of counters
// that the writer's ids form, and by giving every id the number of times that its
// row has passed FFFFFF. The judge needs no memory for that, since the 40 bits of
// a record that hold the process value are the same in all of them:
//
//	hi  turn (40 bits) | counter (24 bits)
//	lo  second (32 bits) | place (32 bits)

const firstTurn = 1 << 38 // so that turns can be counted downwards

// turned returns the record of r's id for a counter that has come to position.
func turned(r record, position int64) record {
	return record{uint64(position + firstTurn<<counterBits), uint64(r.second())<<placeBits | uint64(r.place())}
}

func (r record) position() int64      { return int64(r.hi) - firstTurn<<counterBits }
func (r record) turnedSecond() uint32 { return uint32(r.lo >> placeBits) }

// unturned is the inverse of turned.
func unturned(r record, process uint64) record {
	second := r.turnedSecond()
	return record{
		process<<counterBits | uint64(second>>8),
		uint64(second)<<56 | (r.hi&counterMask)<<placeBits | r.lo&placeMask,
	}
}

// row is a row of counters that go on from each other.
type row struct {
	at     int64 // position of the last
	second uint32
}

const maxRows = 8

// rows follows the rows of one writer.
type rows struct {
	list   []row
	latest int  // row that the last id belonged to
	far    bool // no process that makes ids elsewhere explains big moves
}

// place returns the position of a counter that is there in second.
func (rs *rows) place(counter, second uint32) int64 {
	c := int64(counter)
	best, least := -1, int64(math.MaxInt64)
	behind, overtaken := -1, int64(backSlack)
	for i, r := range rs.list {
		reach := int64(unseenRate) * (int64(second-r.second) + 1)
		if rs.far {
			reach = bigMove
		}
		ahead := (c - r.at) & counterMask
		if ahead <= reach && ahead < least {
			best, least = i, ahead
		}
		if back := (r.at - c) & counterMask; back < overtaken {
			behind, overtaken = i, back
		}
	}
	switch {
	case best >= 0:
		rs.list[best].at += least
		rs.list[best].second = second
		rs.latest = best
		return rs.list[best].at
	case behind >= 0:
		return rs.list[behind].at - overtaken
	case len(rs.list) == 0:
		rs.list = append(rs.list, row{c, second})
		return c
	case len(rs.list) < maxRows:
		// A row of its own, on the nearer side of the row it is nearest to.
		position, distance := int64(0), int64(math.MaxInt64)
		for _, r := range rs.list {
			d := (c - r.at) & counterMask
			if d >= circle/2 {
				d -= circle
			}
			if max(d, -d) < distance {
				position, distance = r.at+d, max(d, -d)
			}
		}
		rs.latest = len(rs.list)
		rs.list = append(rs.list, row{position, second})
		return position
	}
	r := &rs.list[rs.latest]
	r.at += (c - r.at) & counterMask
	r.second = second
	return r.at
}

// judge finds out what is the matter with a writer, whose records are those from
// i to j.
func (t *tally) judge(list *records, w *writer, i, j int) {
	rs := rows{list: make([]row, 0, maxRows), far: w.far}
	list.turn(i, j, func(r record) int64 { return rs.place(r.counter(), r.second()) })
	v := list.view(i, j)
	w.missing, w.jumps = v.missing, v.jumps
	switch {
	case v.twins > 0 || v.interleaved() || v.overlap():
		w.shared = true
		t.shared++
		t.fault(fault{shared: true, examples: v.sharers()}, w)
	case len(v.falls) > 0:
		w.stepped = true
		t.stepped++
		t.fault(fault{falls: v.falls, more: v.moreFalls}, w)
	}
	list.turnBack(i, j, w.process)
}

// mayFold reports whether ids that seem to go on through a few jumps may in truth
// be one row of counters whose clock was wrong for a while.
func (w *writer) mayFold() bool {
	return w.jumps > 0 && w.jumps <= 8 && w.ids >= 8 && w.ids <= maxGap
}

// unfold looks whether the ids of a writer, taken as one row of counters that
// never wrapped, lie close together without a hole where time goes backwards.
// Then its clock was wrong for a while, and the counters that seemed to have gone
// round have not.
func (t *tally) unfold(list *records, w *writer, i, j int) {
	start := int64(list.at(i).counter())
	list.turn(i, j, func(r record) int64 {
		d := (int64(r.counter()) - start) & counterMask
		if d >= circle/2 {
			d -= circle
		}
		return start + d
	})
	v := list.view(i, j)
	if n := len(v.falls); n > 0 && n <= 4 && v.moreFalls == 0 && v.twins == 0 && !v.interleaved() && v.jumps == 0 && v.close() {
		w.missing, w.jumps, w.stepped = v.missing, 0, true
		t.stepped++
		t.fault(fault{falls: v.falls}, w)
	}
	list.turnBack(i, j, w.process)
}

// turn orders the records from i to j by position.
func (l *records) turn(i, j int, position func(record) int64) {
	for span := range l.spans(i, j) {
		for k, r := range span {
			span[k] = turned(r, position(r))
		}
	}
	l.sort(i, j)
}

// turnBack undoes turn.
func (l *records) turnBack(i, j int, process uint64) {
	for span := range l.spans(i, j) {
		for k, r := range span {
			span[k] = unturned(r, process)
		}
	}
	l.sort(i, j)
}
