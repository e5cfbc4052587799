package census

import (
	"math"
	"slices"

	"github.com/oidkit/oid/census/internal/idset"
)

// sequence is the ids of a cluster in the order of their counters. If the clock runs forwards,
// the times increase in this order. A decrease shows that the clock was set back, or that
// threads did not take counters in the order of time.
//
//	second
//	  |        **
//	  |      **   t     **    s is a single late id: after it the times continue as
//	  |    **         **      before. After a clock step all times are lower, except
//	  |  **  s      **        those of threads that had read the clock before (t).
//	  |**        ***          Decreases at t belong to the same group.
//	  +--------------------- counter
//	   segment    segment
//
// A twin is a counter that was used twice, in different seconds.
type sequence struct {
	ids    int64 // ids with different counters
	length int64 // counters from the first to the last

	twins      int64     // number of twins
	twin       [2]linked // the two ids of the first one
	twinsFirst uint32    // second of the earliest twin
	twinsLast  uint32    // second of the latest twin

	decreases int64              // decreases, except those of a single late id
	singles   int64              // decreases of a single late id
	certain   int64              // decreases by certainStep or more
	late      [maxLate + 1]int64 // the other decreases, by how many seconds are out of order
	groups    int64              // groups of decreases; a group is around one clock step
	gaps      pool               // groups by how near their counters are
	blocks    float64            // evidence against blocks as the cause, in bits; see endGroup
	deepest   uint32             // greatest decrease, in seconds
	widest    int64              // greatest distance of counters at a decrease
	examples  []linked           // the ids before and after a few decreases
}

// maxLate is how many ids before and after a decrease are looked at.
const maxLate = 64

// segment is the ids from one decrease to the next.
type segment struct {
	first, last uint32 // seconds
	rise        uint32 // the longest time from one id to the next, in seconds
	ids         int64
}

// pauseBits returns the evidence that the given number of seconds is not a usual pause between
// two ids of the segment. A pause twice as long is assumed to be an eighth as frequent.
func (g *segment) pauseBits(seconds int64) float64 {
	if g.ids < minSegment {
		return 0
	}
	return 3 * math.Log2(max(min(float64(seconds)/float64(g.last-g.first+1), 1)*float64(g.ids), 1))
}

// undoBits returns the evidence that a decrease by the given seconds undoes an increase of the
// clock within the segment.
func (g *segment) undoBits(by uint32) float64 {
	interval := float64(g.last-g.first-min(g.rise, g.last-g.first)+1) / float64(g.ids)
	off := math.Abs(float64(by) - float64(g.rise))
	if off > minMost*interval+minStep {
		return 0
	}
	return math.Log2(float64(by)/(off+1)) + math.Log2(max(float64(g.rise)/interval, 1))
}

// newSequence returns the sequence of e, whose records are sorted by counter. Threads that had
// read the clock before it was set back may take any of the next limit counters. spacing is the
// mean distance of two ids in the source, in places.
func newSequence(e idset.Extent, limit int64, spacing float64) *sequence {
	q := &sequence{ids: 1, length: linkedAt(e, e.Len()-1).unwrapped() - linkedAt(e, 0).unwrapped() + 1}
	prev := linkedAt(e, 0)
	var before segment // the segment before the last decrease
	now := segment{first: prev.second(), ids: 1}
	var from, to int64           // counters before and after the decreases of the last group
	var order, notBlocks float64 // bits of evidence, see orderBits and endGroup
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
		case q.groups > 0 && prev.unwrapped()-to <= limit && p+1 >= before.last && p <= before.last+minStep: // the group of decreases goes on
			to = r.unwrapped()
			now.ids++
		default: // a new group and a new segment
			now.last = p
			if q.groups++; q.groups > 1 {
				q.endGroup(to-from, order, max(notBlocks, before.pauseBits(int64(s)-int64(before.last))))
			}
			notBlocks = max(now.pauseBits(int64(now.first)-int64(s)), now.undoBits(p-s))
			from, to, order = prev.unwrapped(), r.unwrapped(), 0
			if apart := float64(r.place()) - float64(prev.place()); apart > 0 && apart <= orderSpacing*spacing {
				order = min(orderBits, log2(int64(e.Len())/orderSpacing))
			}
			before, now = now, segment{first: s, ids: 1}
		}
		prev = r
	}
	if q.groups > 0 {
		q.endGroup(to-from, order, max(notBlocks, before.pauseBits(int64(prev.second())-int64(before.last))))
	}
	return q
}

// endGroup counts a group of decreases. apart is the distance of the counters before and after
// it, and order the evidence from the order of the source. blocks is the evidence against
// blocks of counters. Such blocks cause decreases, too, because a thread continues with a new
// block at the end of its block. But no block is used before it is reserved, and a pause of a
// thread rarely has the same length as a clock step.
func (q *sequence) endGroup(apart int64, order, blocks float64) {
	q.gaps.add(idset.CounterBits+1-log2(apart)+order, 1)
	if blocks < unlikeBlock {
		blocks = -likeBlock
	}
	q.blocks += min(blocks, surelyNone)
}

// fewest returns how many different seconds are out of order at a decrease to record i: of the
// ids after the decrease that are older than those before it, or of the ids before it that are
// younger than those after it, whichever is less.
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

// disorder returns how many different seconds are out of order. f returns the second of id k
// and whether it is out of order. disorder looks at up to n ids, as long as at least half of
// them are out of order: around a clock step some threads still have the time from before.
// More than manyThreads threads never wait at the same time, so more ids show a clock step.
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
	minMost     = 32 // up to this many ids after a clock step may all have the time from before
	manyThreads = 32
	fewThreads  = 16 // the most threads that wait until the process ends
)

func (q *sequence) addTwin(prev, r linked) {
	s := r.second()
	if q.twins == 0 {
		q.twin, q.twinsFirst, q.twinsLast = [2]linked{prev, r}, s, s
	}
	q.twins++
	q.twinsFirst, q.twinsLast = min(q.twinsFirst, s), max(q.twinsLast, s)
}

// addDecrease counts the decrease from prev to r, which is record i. It returns false if a
// single late id caused the decrease.
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

// lateBits returns the evidence against late ids as the cause of the decreases. Threads are
// assumed to be late independently of each other.
func (q *sequence) lateBits() float64 {
	var p pool
	p.add(maxBits, q.certain)
	for few, n := range q.late {
		p.add(float64(few)*(log2(q.ids)-log2(q.singles+1)), n)
	}
	return p.bits(float64(q.ids))
}
