package census

import (
	"math/bits"
	"sync"
)

const (
	insertionMax = 40      // records up to which insertion sort is faster
	parallelMin  = 1 << 13 // records from which another core is worth asking
)

// sorter sorts records in place, on several cores: a radix sort from the most
// significant bits that differ ("American flag sort"; McIlroy, Bostic and
// McIlroy, Engineering Radix Sort, 1993).
type sorter struct {
	slots chan struct{} // one element for every goroutine beyond the first
	wg    sync.WaitGroup
}

// newSorter returns a sorter that uses up to workers goroutines.
func newSorter(workers int) *sorter {
	return &sorter{slots: make(chan struct{}, max(workers-1, 0))}
}

// sort sorts the records of l from i to j, not included. They are in order once
// wait has returned.
func (s *sorter) sort(l *records, i, j int) {
	s.share(j-i, func() {
		if !l.mend(i, j) {
			s.rangeOf(l, i, j)
		}
	})
}

func (s *sorter) wait() { s.wg.Wait() }

// sort sorts the records from i to j, not included.
func (l *records) sort(i, j int) {
	s := newSorter(1)
	s.sort(l, i, j)
	s.wait()
}

// digit is a stretch of up to eight bits of a record.
type digit struct {
	high  bool // in hi, not in lo
	shift uint
}

func (d digit) of(r record) uint8 {
	if d.high {
		return uint8(r.hi >> d.shift)
	}
	return uint8(r.lo >> d.shift)
}

// highest returns the digit that ends at the highest bit set in diff.
func highest(diff record) digit {
	if diff.hi != 0 {
		return digit{true, uint(max(bits.Len64(diff.hi)-8, 0))}
	}
	return digit{false, uint(max(bits.Len64(diff.lo)-8, 0))}
}

// rangeOf sorts the records from i to j, which may lie in several segments.
func (s *sorter) rangeOf(l *records, i, j int) {
	if i >= j {
		return
	}
	if shift := l.shift; i>>shift == (j-1)>>shift {
		from := i & (1<<shift - 1)
		s.slice(l.segments[i>>shift][from : from+j-i])
		return
	}
	first := *l.at(i)
	var diff record
	sorted, last := true, first
	for span := range l.spans(i, j) {
		sorted = survey(span, first, &last, &diff) && sorted
	}
	if sorted {
		return
	}
	d := highest(diff)
	var count [256]int
	for span := range l.spans(i, j) {
		for _, r := range span {
			count[d.of(r)]++
		}
	}
	var next, end [256]int
	at := i
	for b := range count {
		next[b] = at
		at += count[b]
		end[b] = at
	}
	for b := range next {
		for next[b] < end[b] {
			p := l.at(next[b])
			r := *p
			for home := d.of(r); int(home) != b; home = d.of(r) {
				q := l.at(next[home])
				next[home]++
				r, *q = *q, r
			}
			*p = r
			next[b]++
		}
	}
	for b, n := range count {
		if n > 1 {
			s.share(n, func() { s.rangeOf(l, end[b]-n, end[b]) })
		}
	}
}

// slice sorts a.
func (s *sorter) slice(a []record) {
	if len(a) <= insertionMax {
		insertionSort(a)
		return
	}
	var diff record
	last := a[0]
	if survey(a, a[0], &last, &diff) {
		return
	}
	d := highest(diff)
	var next, end [256]int32
	for _, r := range a {
		end[d.of(r)]++
	}
	at := int32(0)
	for b, n := range end {
		next[b] = at
		at += n
		end[b] = at
	}
	for b := range next {
		for next[b] < end[b] {
			p := &a[next[b]]
			r := *p
			for home := d.of(r); int(home) != b; home = d.of(r) {
				q := &a[next[home]]
				next[home]++
				r, *q = *q, r
			}
			*p = r
			next[b]++
		}
	}
	from := int32(0)
	for _, to := range end {
		part := a[from:to]
		from = to
		if len(part) > 1 {
			s.share(len(part), func() { s.slice(part) })
		}
	}
}

// share runs f, which sorts n records, on another goroutine if that is worth it
// and one is free.
func (s *sorter) share(n int, f func()) {
	if n >= parallelMin {
		select {
		case s.slots <- struct{}{}:
			s.wg.Go(func() {
				f()
				<-s.slots
			})
			return
		default:
		}
	}
	f()
}

// survey sets in diff the bits in which records of a differ from first, and
// reports whether last and a are in order. It leaves a's last record in last.
func survey(a []record, first record, last, diff *record) bool {
	prev, sorted := *last, true
	hi, lo := diff.hi, diff.lo
	for _, r := range a {
		if r.less(prev) {
			sorted = false
		}
		hi |= r.hi ^ first.hi
		lo |= r.lo ^ first.lo
		prev = r
	}
	*last, *diff = prev, record{hi, lo}
	return sorted
}

func insertionSort(a []record) {
	for i := 1; i < len(a); i++ {
		r := a[i]
		j := i
		for j > 0 && r.less(a[j-1]) {
			a[j] = a[j-1]
			j--
		}
		a[j] = r
	}
}

// maxShift is how many places a record is moved at most by mend.
const maxShift = 64

// mend sorts records that are almost in order already, as those of one writer
// mostly are, and reports whether they were.
func (l *records) mend(i, j int) bool {
	at := i
	budget := j - i // moves, beyond which sort is faster
	var prev record
	for span := range l.spans(i, j) {
		for _, r := range span {
			if r.less(prev) {
				k := at
				for k > i && r.less(*l.at(k - 1)) {
					*l.at(k) = *l.at(k - 1)
					k--
				}
				*l.at(k) = r
				if budget -= at - k; at-k > maxShift || budget < 0 {
					return false
				}
				r = prev
			}
			prev = r
			at++
		}
	}
	return true
}
