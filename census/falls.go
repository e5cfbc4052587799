package census

// sequence is the ids of a cluster in the order of their counters. A clock that runs
// forwards rises in it; where it falls, it was set back, or the counters were not taken
// in the order of time.
type sequence struct {
	ids    int64 // with different counters
	length int64 // counters from the first to the last

	twins      int64 // counters with two times
	twin       [2]record
	twinsFirst uint32 // seconds
	twinsLast  uint32

	falls    int64 // more than that of a single late id
	singles  int64 // those of a single late id
	grid     int64 // greatest common divisor of the counters between falls
	pulses   int64 // falls that undo a rise of the clock
	short    int64 // falls around which few ids are out of order
	groups   int64 // of falls after which the clock returns, see staleIDs
	hard     int64 // groups that begin with a fall to before the ids since the last one
	gaps     pool  // groups by how near their counters are
	late     [maxLate + 1]int64
	certain  int64 // falls by more than a late id
	deepest  uint32
	widest   int64    // counters across a fall
	examples []record // before and after falls
}

// maxLate is from how many ids on they are not late, but the clock has fallen.
const maxLate = 64

// newSequence returns the sequence of e, whose records are by counter. In the source, its
// ids are apart by spacing places on average.
func newSequence(e extent, spacing float64) *sequence {
	q := &sequence{ids: 1, length: e.list.at(e.j-1).unwrapped() - e.list.at(e.i).unwrapped() + 1}
	prev := *e.list.at(e.i)
	since, last := prev.secondByCounter(), prev.unwrapped() // the last fall, or the start
	var group int64                                         // where the falls of its group begin
	order := 0.                                             // bits, see orderBits
	var fellFrom, rise uint32                               // before that, and the widest since
	endGroup := func() {
		if q.groups > 0 {
			q.gaps.add(counterBits+1-log2(last-group)+order, 1)
		}
	}
	for i := e.i + 1; i < e.j; i++ {
		r := *e.list.at(i)
		p, s := prev.secondByCounter(), r.secondByCounter()
		if r.hi == prev.hi {
			// A process uses a counter value once. In the same second this is a
			// duplicate, which is counted elsewhere.
			if p != s {
				q.addTwin(prev, r)
			}
			continue
		}
		q.ids++
		if p >= s+minStep {
			few := fewest(e, i, p, s)
			if few <= maxShort {
				q.short++
			}
			if few == 1 && p-s < certainStep {
				q.singles++
			} else {
				at := r.unwrapped()
				if q.falls > 0 {
					q.grid = divisor(q.grid, at-last)
				}
				if by := p - s; by >= certainStep && max(by, rise)-min(by, rise) <= by/pulsePart {
					q.pulses++
				}
				if q.falls == 0 || prev.unwrapped()-last > staleIDs || p+1 < fellFrom {
					endGroup()
					q.groups++
					group, order = prev.unwrapped(), 0
					if apart := float64(r.place()) - float64(prev.place()); apart > 0 && apart <= orderSpacing*spacing {
						order = min(orderBits, max(log2(int64(e.j-e.i)/orderSpacing), 0))
					}
					if s < since {
						q.hard++
					}
				}
				q.addFall(prev, r, few)
				since, last, fellFrom, rise = s, at, p, 0
			}
		} else if s > p {
			rise = max(rise, s-p)
		}
		prev = r
	}
	endGroup()
	return q
}

// fewest returns how many ids are out of order at a fall to record i, up to maxLate: those
// after it that are older than what comes before it, or those before it that are younger.
func fewest(e extent, i int, before, after uint32) int {
	late := most(min(maxLate, e.j-i), func(k int) bool { return e.list.at(i+k).secondByCounter()+1 < before })
	if late == 1 {
		return 1
	}
	return min(late, most(min(maxLate, i-e.i), func(k int) bool { return e.list.at(i-1-k).secondByCounter() > after+1 }))
}

// most returns for how many of the first n ids f holds, up to where it holds for half of
// them: around a clock step some threads have the time from before it.
func most(n int, f func(int) bool) (count int) {
	held := 0
	for k := range n {
		if f(k) {
			held++
		}
		if 2*held > k {
			count = held
		} else if k >= minMost {
			break
		}
	}
	return count
}

// minMost is up to how many ids may have the time from before a clock step at once.
const minMost = 16

func (q *sequence) addTwin(prev, r record) {
	s := r.secondByCounter()
	if q.twins == 0 {
		q.twin, q.twinsFirst, q.twinsLast = [2]record{prev, r}, s, s
	}
	q.twins++
	q.twinsFirst, q.twinsLast = min(q.twinsFirst, s), max(q.twinsLast, s)
}

func (q *sequence) addFall(prev, r record, few int) {
	by, ahead := prev.secondByCounter()-r.secondByCounter(), r.unwrapped()-prev.unwrapped()
	q.falls++
	q.deepest, q.widest = max(q.deepest, by), max(q.widest, ahead)
	if by >= certainStep {
		q.certain++
	} else {
		q.late[few]++
	}
	if len(q.examples) < maxExamples {
		q.examples = append(q.examples, prev, r)
	}
}

// lateBits returns the evidence against late ids as the cause of the falls: threads that
// waited between reading the clock and taking a counter, each by itself.
func (q *sequence) lateBits() float64 {
	var p pool
	p.add(maxBits, q.certain)
	for few, n := range q.late {
		p.add(float64(few)*(log2(q.ids)-log2(q.singles+1)), n)
	}
	return p.bits(float64(q.ids))
}

// mayBeBlocks reports whether threads that reserve counters in blocks may be the cause of
// the falls: a block is not used before it is reserved, so that no time is before the
// block before it, and blocks have the same size.
func (q *sequence) mayBeBlocks() bool {
	if q.falls < 3 || 2*q.hard > q.groups || 2*q.pulses > q.falls {
		return false
	}
	return 2*q.ids < q.length || float64(q.falls-2)*log2(q.grid) >= blockBits
}

// isInterleaved reports whether two processes may have used the counters in turn: the
// clock goes back and forth all the time, so that of the few ids two could well have
// different counters.
func (q *sequence) isInterleaved() bool {
	return q.short >= minShort && shortShare*q.short > q.ids && q.ids*q.ids/shortShare < q.length
}

// divisor returns the greatest common divisor; 0 has every divisor.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
