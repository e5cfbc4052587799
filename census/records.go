package census

import "iter"

// records is a list of records in segments, of which all but the last are full.
// Growing by segments never copies, so that a census needs little more memory
// than its ids do.
type records struct {
	segments [][]record
	shift    uint // a segment has 1<<shift records
}

const (
	smallSegments = 12 // shift of lists of which there may be many: 64 KiB
	largeSegments = 18 // shift of the others: 4 MiB
)

func (l *records) len() int {
	if len(l.segments) == 0 {
		return 0
	}
	return (len(l.segments)-1)<<l.shift + len(l.segments[len(l.segments)-1])
}

func (l *records) at(i int) *record {
	return &l.segments[i>>(l.shift&63)][i&(1<<(l.shift&63)-1)]
}

// append adds part to the end. The first segment grows as a slice does, which
// keeps a small list small; the others are made whole.
func (l *records) append(part ...record) {
	for len(part) > 0 {
		n := len(l.segments)
		if n == 0 || len(l.segments[n-1]) == 1<<l.shift {
			var segment []record
			if n > 0 {
				segment = make([]record, 0, 1<<l.shift)
			}
			l.segments = append(l.segments, segment)
			n++
		}
		last := &l.segments[n-1]
		k := min(len(part), 1<<l.shift-len(*last))
		*last = append(*last, part[:k]...)
		part = part[k:]
	}
}

// add adds one record to the end.
func (l *records) add(r record) {
	if n := len(l.segments) - 1; n >= 0 {
		if s := l.segments[n]; len(s) < cap(s) && len(s) < 1<<(l.shift&63) {
			l.segments[n] = append(s, r)
			return
		}
	}
	l.append(r)
}

// spans yields the records from i to j, not included, in as many slices as the
// segments ask for.
func (l *records) spans(i, j int) iter.Seq[[]record] {
	return func(yield func([]record) bool) {
		for i < j {
			segment := l.segments[i>>l.shift]
			from := i & (1<<l.shift - 1)
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
