package census

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/oidkit/oid/census/internal/idset"
)

// Some programs use a new process value for every id, for example a driver in a forked child
// process. Then each process value has only one id, but the counters of these ids form a
// sequence. Counters of different processes do not.

// singles keeps the ids that are the only ones with their process value. If there are too
// many, it keeps those with the lowest counters, so that neighbours stay neighbours. The
// goroutines of an analysis share it.
type singles struct {
	mu    sync.Mutex
	list  []idset.Record
	shift uint // counters from idset.CounterRange>>shift on are left out
}

func (s *singles) isOut(r idset.Record) bool { return r.Counter()>>(idset.CounterBits-s.shift) > 0 }

// add adds ids, and leaves out some until at most maxSingles are left.
func (s *singles) add(ids []idset.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range ids {
		if !s.isOut(r) {
			s.list = append(s.list, r)
		}
	}
	for len(s.list) > maxSingles && s.shift < idset.CounterBits {
		s.shift++
		s.list = slices.DeleteFunc(s.list, s.isOut)
	}
}

// chained is the sequences that the counters of singles form.
type chained struct {
	ids, sequences int64
	examples       [][]idset.Record // the first two ids of a few sequences
	isEstimate     bool             // ids were left out
}

// chains finds the sequences. The order in which the ids were added does not matter.
func (s *singles) chains() (out chained) {
	slices.SortFunc(s.list, func(a, b idset.Record) int {
		return cmp.Or(cmp.Compare(a.Counter(), b.Counter()), cmp.Compare(a.Second(), b.Second()), cmp.Compare(a.Value(), b.Value()))
	})
	n := len(s.list)
	seen := noSeconds
	for _, r := range s.list {
		seen.add(r.Second())
	}
	span := float64(seen.last-seen.first) + 1
	density := float64(n) / float64(int64(idset.CounterRange)>>s.shift) // ids for each counter
	follows := make([]bool, n)                                          // whether id i is in a sequence
	for i := range n {
		if follows[i] {
			continue
		}
		chain, bits := []int{i}, 0.
		for at := i; ; {
			next, worth := -1, 0.
			for k := at + 1; k < n; k++ {
				d, dt := s.list[k].Counter()-s.list[at].Counter(), int64(s.list[k].Second())-int64(s.list[at].Second())
				if d > maxSingleStep {
					break
				}
				if d == 0 || follows[k] || dt < -1 || dt > maxSingleWait {
					continue
				}
				chance := density * float64(d) * min(1, 2*float64(dt+2)/span)
				if b := -math.Log2(chance); b > worth {
					next, worth = k, b
				}
			}
			if next < 0 {
				break
			}
			chain, bits, at = append(chain, next), bits+worth, next
		}
		if len(chain) <= minSingles || bits <= singleBits+math.Log2(float64(n)) {
			continue
		}
		for _, k := range chain {
			follows[k] = true
		}
		out.ids += int64(len(chain))
		out.sequences++
		if len(out.examples) < maxExamples/2 {
			out.examples = append(out.examples, []idset.Record{s.list[chain[0]], s.list[chain[1]]})
		}
	}
	out.ids, out.isEstimate = out.ids<<s.shift, s.shift > 0
	return out
}
