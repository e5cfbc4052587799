package census

import (
	"cmp"
	"math"
	"slices"

	"github.com/oidkit/oid/census/internal/idset"
)

// Some programs draw a new process value for every id: a driver in a forked child, or
// one that lacks the process. Each such value has one id. Their counters make one
// sequence, which values of different processes do not.

// singleID is the only id of a process value.
type singleID struct {
	counter, second uint32
	r               idset.Record
}

// singles keeps the only ids of process values, all of them or, of very many, those with
// the lowest counters, so that neighbours stay neighbours.
type singles struct {
	list  []singleID
	all   int64
	shift uint // counters from counterRange>>shift on are left out
}

func (s *singles) add(r idset.Record) {
	s.all++
	if r.Counter()>>(idset.CounterBits-s.shift) > 0 {
		return
	}
	s.list = append(s.list, singleID{r.Counter(), r.Second(), r})
	s.halve()
}

// halve leaves ids out until few enough are left.
func (s *singles) halve() {
	for len(s.list) > maxSingles && s.shift < idset.CounterBits {
		s.shift++
		s.list = slices.DeleteFunc(s.list, func(i singleID) bool { return i.counter>>(idset.CounterBits-s.shift) > 0 })
	}
}

func (s *singles) merge(other *singles) {
	s.all += other.all
	s.shift = max(s.shift, other.shift)
	s.list = append(s.list, other.list...)
	s.list = slices.DeleteFunc(s.list, func(i singleID) bool { return i.counter>>(idset.CounterBits-s.shift) > 0 })
	s.halve()
}

// chains returns how many ids have a counter that follows that of another one, and how
// many sequences they make. With very many, both are estimated from those that were kept.
func (s *singles) chains() (ids, sequences int64, examples [][]idset.Record) {
	slices.SortFunc(s.list, func(a, b singleID) int {
		return cmp.Or(cmp.Compare(a.counter, b.counter), cmp.Compare(a.second, b.second))
	})
	n := len(s.list)
	first, last := uint32(math.MaxUint32), uint32(0)
	for _, i := range s.list {
		first, last = min(first, i.second), max(last, i.second)
	}
	span := float64(last-first) + 1
	density := float64(n) / float64(int64(idset.CounterRange)>>s.shift) // ids for each counter
	follows := make([]bool, n)                                          // another one
	for i := range n {
		if follows[i] {
			continue
		}
		chain, bits := []int{i}, 0.
		for at := i; ; {
			next, worth := -1, 0.
			for k := at + 1; k < n && s.list[k].counter-s.list[at].counter <= maxSingleStep; k++ {
				d, dt := s.list[k].counter-s.list[at].counter, int64(s.list[k].second)-int64(s.list[at].second)
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
			examples = append(examples, []idset.Record{s.list[chain[0]].r, s.list[chain[1]].r})
		}
	}
	return ids << s.shift, sequences, examples
}
