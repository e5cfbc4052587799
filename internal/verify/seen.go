package verify

import (
	"cmp"
	"slices"
)

// maxRuns is how many runs a stream remembers: 64 MiB of them.
const maxRuns = 2 << 20

// run is a range of ids of one second, each one more than the one before.
type run struct {
	second uint32
	lo, hi uint64 // the last eight bytes of the first and the last id
	at     int64  // the number of the first id, from 1
}

func (r run) compare(o run) int {
	return cmp.Or(cmp.Compare(r.second, o.second), cmp.Compare(r.lo, o.lo), cmp.Compare(r.at, o.at))
}

// seen remembers ids. A generator whose counter increases by one needs one run for a
// second; beyond maxRuns the oldest are forgotten.
type seen struct {
	runs      []run
	sorted    int // runs[:sorted] are sorted and disjoint
	forgotten bool
}

// repeat is a number of ids that are there twice, and one of them.
type repeat struct {
	ids          int64
	second       uint32
	low          uint64
	first, again int64 // the numbers of that id
}

// add remembers a run. It reports repeats at times, the rest when compact is called.
func (s *seen) add(r run, found func(repeat)) {
	s.runs = append(s.runs, r)
	if len(s.runs) < maxRuns {
		return
	}
	s.compact(found)
	if len(s.runs) > maxRuns/2 {
		s.runs = slices.Delete(s.runs, 0, len(s.runs)-maxRuns/2)
		s.forgotten = true
	}
	s.sorted = len(s.runs)
}

// compact sorts the runs, and reports and removes what they repeat.
func (s *seen) compact(found func(repeat)) {
	if s.sorted == len(s.runs) {
		return
	}
	slices.SortFunc(s.runs, run.compare)
	kept := make([]run, 0, len(s.runs))
	for _, r := range s.runs {
		if last := len(kept) - 1; last >= 0 && kept[last].second == r.second && r.lo <= kept[last].hi {
			of := last // the run that has r.lo: the last ones may be what was left of others
			for kept[of].lo > r.lo {
				of--
			}
			x, y, end := kept[of].at+int64(r.lo-kept[of].lo), r.at, kept[last].hi
			found(repeat{int64(min(end, r.hi)-r.lo) + 1, r.second, r.lo, min(x, y), max(x, y)})
			if r.hi <= end {
				continue
			}
			r.at += int64(end + 1 - r.lo)
			r.lo = end + 1
		}
		kept = append(kept, r)
	}
	s.runs, s.sorted = kept, len(kept)
}

// common reports the ids that are in both, which are compact. The numbers of a repeat
// are those in s and in o.
func (s *seen) common(o *seen, found func(repeat)) {
	for i, j := 0, 0; i < len(s.runs) && j < len(o.runs); {
		a, b := s.runs[i], o.runs[j]
		if a.second == b.second && a.lo <= b.hi && b.lo <= a.hi {
			low := max(a.lo, b.lo)
			found(repeat{int64(min(a.hi, b.hi)-low) + 1, a.second, low, a.at + int64(low-a.lo), b.at + int64(low-b.lo)})
		}
		if cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.hi, b.hi)) < 0 {
			i++
		} else {
			j++
		}
	}
}
