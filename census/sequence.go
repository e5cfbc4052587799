package census

import (
	"math"
	"slices"

	"github.com/oidkit/oid/census/internal/idset"
)

// sequence is the ids of a cluster in the order of their counters. A clock that runs
// forwards increases in it; where it decreases, it was set back, or the counters were not taken
// in the order of time.
//
//	second
//	  |        **
//	  |      **   t     **    s is a single late id: the next is where it would be
//	  |    **         **      without it. After the decrease all are lower, except a
//	  |  **  s      **        few of threads that had read the clock before it (t),
//	  |**        ***          which belong to the same group of decreases.
//	  +--------------------- counter
//	   segment    segment
type sequence struct {
	ids    int64 // with different counters
	length int64 // counters from the first to the last

	twins      int64 // counters with two times
	twin       [2]linked
	twinsFirst uint32 // seconds
	twinsLast  uint32

	decreases int64 // more than that of a single late id
	singles   int64 // those of a single late id
	certain   int64 // decreases by certainStep or more
	late      [maxLate + 1]int64
	groups    int64    // of decreases around the same clock step
	gaps      pool     // groups by how near their counters are
	blocks    float64  // evidence against blocks as the cause, in bits; see endGroup
	deepest   uint32   // seconds
	widest    int64    // counters across a decrease
	examples  []linked // before and after decreases
}

// maxLate is how many ids around a decrease are looked at.
const maxLate = 64

// segment is the ids from one decrease to the next.
type segment struct {
	first, last uint32 // seconds
	rise        uint32 // the widest from id to id, in seconds
	ids         int64
}

// times returns the evidence of a time that is so many times as long as usual from id to
// id. Pauses are of any length: one that is twice as long happens an eighth as often.
func (g *segment) times(seconds int64) float64 {
	if g.ids < minSegment {
		return 0
	}
	return 3 * math.Log2(max(min(float64(seconds)/float64(g.last-g.first+1), 1)*float64(g.ids), 1))
}

// undone returns the evidence of a decrease that undoes an increase of the clock.
func (g *segment) undone(by uint32) float64 {
	interval := float64(g.last-g.first-min(g.rise, g.last-g.first)+1) / float64(g.ids)
	off := math.Abs(float64(by) - float64(g.rise))
	if off > minMost*interval+minStep {
		return 0
	}
	return math.Log2(float64(by)/(off+1)) + math.Log2(max(float64(g.rise)/interval, 1))
}

// newSequence returns the sequence of e, whose records are by counter. Threads that had
// read the clock before it was set back take their counters up to limit after that. In the
// source, the ids are apart by spacing places on average.
func newSequence(e idset.Extent, limit int64, spacing float64) *sequence {
	q := &sequence{ids: 1, length: linkedAt(e, e.Len()-1).unwrapped() - linkedAt(e, 0).unwrapped() + 1}
	prev := linkedAt(e, 0)
	var left segment // before the last decrease
	now := segment{first: prev.second(), ids: 1}
	var from, to int64           // counters around the decreases of the last group
	var order, otherwise float64 // bits, see orderBits and blocks
	for i := 1; i < e.Len(); i++ {
		r := linkedAt(e, i)
		p, s := prev.second(), r.second()
		if r.Hi == prev.Hi {
			// A process uses a counter value once. In the same second this is a
			// duplicate, which is counted elsewhere.
			if p != s {
				q.addTwin(prev, r)
			}
			continue
		}
		q.ids++
		switch {
		case p < s+minStep || !q.addDecrease(e, i, prev, r): // the segment goes on
			now.rise = max(now.rise, s-min(p, s))
			now.ids++
		case q.groups > 0 && prev.unwrapped()-to <= limit && p+1 >= left.last && p <= left.last+minStep: // so does the group of decreases
			to = r.unwrapped()
			now.ids++
		default: // another group, and another segment
			now.last = p
			if q.groups++; q.groups > 1 {
				q.endGroup(to-from, order, max(otherwise, left.times(int64(s)-int64(left.last))))
			}
			otherwise = max(now.times(int64(now.first)-int64(s)), now.undone(p-s))
			from, to, order = prev.unwrapped(), r.unwrapped(), 0
			if apart := float64(r.place()) - float64(prev.place()); apart > 0 && apart <= orderSpacing*spacing {
				order = min(orderBits, log2(int64(e.Len())/orderSpacing))
			}
			left, now = now, segment{first: s, ids: 1}
		}
		prev = r
	}
	if q.groups > 0 {
		q.endGroup(to-from, order, max(otherwise, left.times(int64(prev.second())-int64(left.last))))
	}
	return q
}

// endGroup counts a group of decreases between counters that are so far apart. Blocks of
// counters that threads reserve cause decreases, too: at the end of its block a thread goes
// on with another one. But no block is used before it is reserved, and a thread that pauses
// does not do so by as much as the clock was set back.
func (q *sequence) endGroup(apart int64, order, blocks float64) {
	q.gaps.add(idset.CounterBits+1-log2(apart)+order, 1)
	if blocks < unlikeBlock {
		blocks = -likeBlock
	}
	q.blocks += min(blocks, surelyNone)
}

// fewest returns in how many seconds ids are out of order at a decrease to record i: those
// after it that are older than what comes before it, or those before it that are younger.
func fewest(e idset.Extent, i int, before, after uint32) int {
	late, toEnd := disorder(min(maxLate, e.Len()-i), func(k int) (uint32, bool) {
		s := linkedAt(e, i+k).second()
		return s, s+1 < before
	})
	if late == 1 || toEnd {
		return 1
	}
	ahead, _ := disorder(min(maxLate, i), func(k int) (uint32, bool) {
		s := linkedAt(e, i-1-k).second()
		return s, s > after+1
	})
	return min(late, ahead)
}

// disorder returns how many seconds those of the next n ids have for which f holds, up to
// where it holds for half of them: around a clock step some threads have the time from
// before it. As many threads as manyThreads do not wait at once, so that more ids show a
// clock.
func disorder(n int, f func(int) (uint32, bool)) (seconds int, all bool) {
	var at [manyThreads + 1]uint32 // the different seconds
	held, different := 0, 0
	for k := range n {
		if s, ok := f(k); ok {
			held++
			if !slices.Contains(at[:different], s) {
				at[different] = s
				different++
			}
		}
		if 2*held > k {
			seconds = different
		} else if k >= minMost {
			return seconds, false
		}
		if held > manyThreads {
			return maxLate, false
		}
	}
	return seconds, 2*held > n && held <= fewThreads
}

const (
	minMost     = 32 // ids after a clock step of which all may have the time from before it
	manyThreads = 32
	fewThreads  = 16 // that may wait until the process ends
)

func (q *sequence) addTwin(prev, r linked) {
	s := r.second()
	if q.twins == 0 {
		q.twin, q.twinsFirst, q.twinsLast = [2]linked{prev, r}, s, s
	}
	q.twins++
	q.twinsFirst, q.twinsLast = min(q.twinsFirst, s), max(q.twinsLast, s)
}

// addDecrease counts the decrease from prev to r, record i. It reports false if that is a single
// late id.
func (q *sequence) addDecrease(e idset.Extent, i int, prev, r linked) bool {
	p, s := prev.second(), r.second()
	few := fewest(e, i, p, s)
	if few == 1 && p-s < certainStep {
		q.singles++
		return false
	}
	q.decreases++
	q.deepest, q.widest = max(q.deepest, p-s), max(q.widest, r.unwrapped()-prev.unwrapped())
	if p-s >= certainStep {
		q.certain++
	} else {
		q.late[few]++
	}
	if len(q.examples) < maxExamples {
		q.examples = append(q.examples, prev, r)
	}
	return true
}

// lateBits returns the evidence against late ids as the cause of the decreases: threads that
// waited between reading the clock and taking a counter, each by itself.
func (q *sequence) lateBits() float64 {
	var p pool
	p.add(maxBits, q.certain)
	for few, n := range q.late {
		p.add(float64(few)*(log2(q.ids)-log2(q.singles+1)), n)
	}
	return p.bits(float64(q.ids))
}
