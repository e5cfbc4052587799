package verify

import (
	"cmp"
	"slices"
)

// maxRuns is how many runs a stream remembers: 32 MiB of them, and as much to sort them.
const maxRuns = 2 << 20

// run is a range of ids of one second, each one more than the one before.
type run struct {
	second uint32
	lo, hi uint64 // the last eight bytes of the first and the last id
}

func (r run) compare(o run) int {
	return cmp.Or(cmp.Compare(r.second, o.second), cmp.Compare(r.lo, o.lo))
}

// seen remembers ids. A generator whose counter increases by one needs one run for a
// second; beyond maxRuns the oldest are forgotten.
type seen struct {
	runs      []run
	forgotten bool
}

// add remembers a run. It reports a number of ids that are there already, with the first
// of them, at times, and the rest when compact is called.
func (s *seen) add(r run, found func(ids int64, first run)) {
	s.runs = append(s.runs, r)
	if len(s.runs) < maxRuns {
		return
	}
	s.compact(found)
	if len(s.runs) > maxRuns/2 {
		s.runs = slices.Delete(s.runs, 0, len(s.runs)-maxRuns/2)
		s.forgotten = true
	}
}

// compact sorts the runs, reports what they repeat, and joins those that overlap or adjoin:
//
//	runs   aaaaaa         dddd     one second, from the lowest id on
//	          bbbbbb
//	                cc
//	kept   aaaaaaaaacc    dddd     three ids of b are reported: they are in a, too
func (s *seen) compact(found func(ids int64, first run)) {
	slices.SortFunc(s.runs, run.compare)
	kept := s.runs[:0]
	for _, r := range s.runs {
		last := len(kept) - 1
		if last < 0 || kept[last].second != r.second || r.lo > kept[last].hi+1 {
			kept = append(kept, r)
			continue
		}
		if end := min(kept[last].hi, r.hi); r.lo <= end {
			found(int64(end-r.lo)+1, r)
		}
		kept[last].hi = max(kept[last].hi, r.hi)
	}
	s.runs = kept
}

// common reports the ids that are in both, which are compact.
func (s *seen) common(o *seen, found func(ids int64, first run)) {
	for i, j := 0, 0; i < len(s.runs) && j < len(o.runs); {
		a, b := s.runs[i], o.runs[j]
		low, high := max(a.lo, b.lo), min(a.hi, b.hi)
		if a.second == b.second && low <= high {
			found(int64(high-low)+1, run{a.second, low, high})
		}
		if cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.hi, b.hi)) < 0 {
			i++
		} else {
			j++
		}
	}
}
