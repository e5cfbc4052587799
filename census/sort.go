package census

import (
	"math/bits"
	"sync"
)

const (
	insertionMax = 40      // records up to which insertion sort is faster
	parallelMin  = 1 << 13 // records from which another goroutine is faster
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
			s.radix(l, i, j)
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

// radix sorts the records from i to j, which may be in several segments.
func (s *sorter) radix(l *records, i, j int) {
	if j-i <= insertionMax {
		l.insertionSort(i, j)
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
	var next, end [256]int
	for span := range l.spans(i, j) {
		for _, r := range span {
			end[d.of(r)]++
		}
	}
	at := i
	for b, n := range end {
		next[b] = at
		at += n
		end[b] = at
	}
	view := *l // in registers
	for b := range next {
		for next[b] < end[b] {
			p := view.at(next[b])
			r := *p
			for home := d.of(r); int(home) != b; home = d.of(r) {
				q := view.at(next[home])
				next[home]++
				r, *q = *q, r
			}
			*p = r
			next[b]++
		}
	}
	from := i
	for _, to := range end {
		if n := to - from; n > 1 {
			part := from
			s.share(n, func() { s.radix(l, part, to) })
		}
		from = to
	}
}

// share runs f, which sorts n records, on another goroutine if there are enough
// records and one is free.
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

// insertionSort sorts the records from i to j, which are few.
func (l *records) insertionSort(i, j int) {
	view := *l // in registers
	for k := i + 1; k < j; k++ {
		r, at := *view.at(k), k
		for at > i && r.less(*view.at(at - 1)) {
			*view.at(at) = *view.at(at - 1)
			at--
		}
		*view.at(at) = r
	}
}

// maxShift is how many places mend moves a record at most.
const maxShift = 64

// mend sorts records that are almost in order already, as those of one process
// usually are, and reports whether they were.
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
