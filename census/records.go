package census

import "iter"

// segmentSize is how many records share one stretch of memory: 4 MiB. Growing by
// segments never copies, so that a census needs no more memory than its ids.
const segmentSize = 1 << 18

// records is a list of records in segments. All but the last are full.
type records struct {
	segments [][]record
}

func (l *records) len() int {
	if len(l.segments) == 0 {
		return 0
	}
	return (len(l.segments)-1)*segmentSize + len(l.segments[len(l.segments)-1])
}

func (l *records) at(i int) *record { return &l.segments[i/segmentSize][i%segmentSize] }

// append adds part to the end. The first segment grows as a slice does, which
// keeps a small census small; the others are made whole.
func (l *records) append(part []record) {
	for len(part) > 0 {
		n := len(l.segments)
		if n == 0 || len(l.segments[n-1]) == segmentSize {
			var segment []record
			if n > 0 {
				segment = make([]record, 0, segmentSize)
			}
			l.segments = append(l.segments, segment)
			n++
		}
		last := &l.segments[n-1]
		k := min(len(part), segmentSize-len(*last))
		*last = append(*last, part[:k]...)
		part = part[k:]
	}
}

// spans yields the records from i to j, not included, in as many slices as the
// segments ask for.
func (l *records) spans(i, j int) iter.Seq[[]record] {
	return func(yield func([]record) bool) {
		for i < j {
			segment := l.segments[i/segmentSize]
			from := i % segmentSize
			to := min(len(segment), from+j-i)
			if !yield(segment[from:to]) {
				return
			}
			i += to - from
		}
	}
}

// search returns the first index from i to j whose record f holds for, or j. f
// must be false up to some record and true from there on.
func (l *records) search(i, j int, f func(record) bool) int {
	for i < j {
		mid := int(uint(i+j) >> 1)
		if f(*l.at(mid)) {
			j = mid
		} else {
			i = mid + 1
		}
	}
	return i
}
