package census

import (
	"cmp"
	"slices"
	"sync"
)

// maxBusiest is how many minutes are searched for the busiest second.
const maxBusiest = 1024

// secondsOf counts the ids of some minutes by second.
type secondsOf struct {
	minutes []uint32       // since 1970, in order
	index   map[uint32]int // in minutes
	counts  [][60]uint32
}

// busiestSecond returns the second with the most ids: it is in the busiest minutes. It
// returns nil if a minute that was not searched may have a busier one.
func (l *collection) busiestSecond(workers int, h *history) (*Peak, error) {
	var minutes []uint32
	for i, n := range h.minutes {
		if n > 0 {
			minutes = append(minutes, uint32(i))
		}
	}
	if len(minutes) == 0 {
		return nil, nil
	}
	slices.SortFunc(minutes, func(a, b uint32) int { return cmp.Or(cmp.Compare(h.minutes[b], h.minutes[a]), cmp.Compare(a, b)) })
	others := int32(0) // the most that a minute has that is not searched
	if len(minutes) > maxBusiest {
		others = h.minutes[minutes[maxBusiest]]
		minutes = minutes[:maxBusiest]
	}
	for i := range minutes {
		minutes[i] += h.from / secondsPerMinute
	}
	slices.Sort(minutes)
	index := map[uint32]int{}
	for i, m := range minutes {
		index[m] = i
	}
	var parts []*secondsOf
	var mu sync.Mutex
	if err := l.ids.visit(workers, func(int) visitor {
		s := &secondsOf{minutes, index, make([][60]uint32, len(minutes))}
		mu.Lock()
		defer mu.Unlock()
		parts = append(parts, s)
		return s
	}); err != nil {
		return nil, err
	}
	var best Peak
	for i, m := range minutes {
		for s := range 60 {
			n := int64(0)
			for _, p := range parts {
				n += int64(p.counts[i][s])
			}
			if n > best.IDs {
				best = Peak{Second, moment(m*secondsPerMinute + uint32(s)), n}
			}
		}
	}
	if best.IDs < int64(others) {
		return nil, nil
	}
	return &best, nil
}

// value counts the ids of one process value.
func (s *secondsOf) value(e extent) {
	if e.len() < 16*len(s.minutes) {
		s.count(e, e.i, e.j)
		return
	}
	i := e.i
	for _, m := range s.minutes {
		i = e.list.search(i, e.j, func(r record) bool { return r.second() >= m*secondsPerMinute })
		end := e.list.search(i, e.j, func(r record) bool { return r.second()/secondsPerMinute > m })
		s.count(e, i, end)
		i = end
	}
}

func (s *secondsOf) endBlock() {}

func (s *secondsOf) count(e extent, i, j int) {
	var prev record
	started, minute, at, found := false, uint32(0), 0, false
	for records := range e.list.spans(i, j) {
		for _, r := range records {
			if started && r.sameID(prev) || r.isBound() {
				continue
			}
			if m := r.second() / secondsPerMinute; m != minute || !started {
				minute = m
				at, found = s.index[m]
			}
			prev, started = r, true
			if found {
				s.counts[at][r.second()%secondsPerMinute]++
			}
		}
	}
}
