package census

import (
	"cmp"
	"math"
	"slices"

	"github.com/oidkit/oid/census/internal/idset"
)

// Some programs use a new process value for every id, for example a driver in a forked child
// process. Then each process value has only one id, but the counters of these ids form a
// sequence. Counters of different processes do not.

// singles keeps the ids that are the only ones with their process value. If there are too
// many, it keeps those with the lowest counters, so that neighbours stay neighbours.
type singles struct {
	list  []idset.Record
	shift uint // counters from idset.CounterRange>>shift on are left out
}

func (s *singles) isOut(r idset.Record) bool { return r.Counter()>>(idset.CounterBits-s.shift) > 0 }

func (s *singles) add(r idset.Record) {
	if !s.isOut(r) {
		s.list = append(s.list, r)
		s.halve()
	}
}

// halve leaves out ids until at most maxSingles are left.
func (s *singles) halve() {
	for len(s.list) > maxSingles && s.shift < idset.CounterBits {
		s.shift++
		s.list = slices.DeleteFunc(s.list, s.isOut)
	}
}

func (s *singles) merge(other *singles) {
	s.shift = max(s.shift, other.shift)
	s.list = slices.DeleteFunc(append(s.list, other.list...), s.isOut)
	s.halve()
}

// chains returns how many ids are part of a sequence, and how many sequences there are. If ids
// were left out, ids is an estimate. examples has the first two ids of a few sequences.
func (s *singles) chains() (ids, sequences int64, examples [][]idset.Record) {
	slices.SortFunc(s.list, func(a, b idset.Record) int {
		return cmp.Or(cmp.Compare(a.Counter(), b.Counter()), cmp.Compare(a.Second(), b.Second()))
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
		ids += int64(len(chain))
		sequences++
		if len(examples) < maxExamples/2 {
			examples = append(examples, []idset.Record{s.list[chain[0]], s.list[chain[1]]})
		}
	}
	return ids << s.shift, sequences, examples
}
