package census

import "math/bits"

// walk goes through one writer's ids in order of their seconds and, within one,
// of their counters. It follows the counter: a second goes on where the one
// before it ended, and may pass from FFFFFF to 000000.
type walk struct {
	start int64 // first counter
	at    int64 // counter at the end of the last second, -1 before the first

	// The counters of the current second above at, which come first, and those
	// not above it, which come after them if the counter has wrapped.
	high, low stretch

	elapsed uint32 // from the second before the current one

	missing int64
	jumps   int64
	odd     bool // this is not simply one process whose clock runs forwards

	turns    [16]uint32 // where the last big moves started and ended
	turned   int        // big moves
	evidence int
	far      bool // the evidence is enough
}

// stretch is a first and a last counter; last is -1 if there is none.
type stretch struct{ first, last int64 }

// bigMove is a move of the counter that calls for an explanation.
const bigMove = 1 << 16

func newWalk() walk {
	return walk{at: -1, high: stretch{-1, -1}, low: stretch{-1, -1}}
}

// add takes the next counter of the current second.
func (w *walk) add(counter uint32) {
	c := int64(counter)
	s := &w.high
	if c <= w.at {
		s = &w.low
	}
	if s.last < 0 {
		s.first = c
	} else if c-s.last > 1 {
		w.move(s.last, c, 0)
	}
	s.last = c
}

// end ends the current second. The next one is later by next seconds.
func (w *walk) end(next uint32) {
	elapsed := w.elapsed
	if w.high.last >= 0 {
		if w.at >= 0 {
			w.move(w.at, w.high.first, elapsed)
		} else {
			w.start = w.high.first
		}
		w.at, elapsed = w.high.last, 0
	}
	if w.low.last >= 0 {
		w.move(w.at, w.low.first, elapsed)
		w.at = w.low.last
	}
	w.high.last, w.low.last = -1, -1
	w.elapsed = next
}

// move takes a step of the counter, elapsed seconds after the one before it.
func (w *walk) move(from, to int64, elapsed uint32) {
	steps := (to - from) & counterMask
	switch {
	case steps <= 1:
		return
	case steps <= maxGap:
		w.missing += steps - 1
	default:
		w.jumps++
	}
	if steps > int64(unseenRate)*(int64(elapsed)+1) {
		w.odd = true
	}
	if steps > bigMove {
		w.returns(uint32(from), uint32(to))
	}
}

// returns weighs how unlikely it is for one process that a big move comes to just
// behind where an earlier one started or ended: two processes do that whenever it
// is the other's turn. Each such return counts for what its closeness is worth in
// bits, less what chance gives away.
func (w *walk) returns(from, to uint32) {
	const (
		chance = 8  // bits that every move loses
		proof  = 40 // bits that are no chance any more
	)
	nearest := uint32(circle)
	for i := range min(2*w.turned, len(w.turns)) {
		nearest = min(nearest, (to-w.turns[i])&counterMask)
	}
	worth := counterBits - 4 - bits.Len32(nearest)
	w.evidence = max(0, w.evidence+worth-chance)
	if w.evidence > proof {
		w.odd, w.far = true, true
	}
	at := 2 * w.turned % len(w.turns)
	w.turns[at], w.turns[at+1] = from, to
	w.turned++
}
