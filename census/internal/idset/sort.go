package idset

import (
	"math/bits"
	"sync"
)

const (
	insertionMax = 40      // up to this many records, insertion sort is faster; it moves at most the square
	parallelMin  = 1 << 13 // from this many records on, another goroutine is faster
)

// sorter sorts records in place, on several cores. It is a radix sort that begins with the
// most significant bits that differ ("American flag sort"; McIlroy, Bostic and McIlroy,
// Engineering Radix Sort, 1993).
type sorter struct {
	slots chan struct{} // has one element for every goroutine beyond the first
	wg    sync.WaitGroup
}

// newSorter returns a sorter that uses up to workers goroutines.
func newSorter(workers int) *sorter {
	return &sorter{slots: make(chan struct{}, max(workers-1, 0))}
}

// sort begins to sort the records of l from i to j, not included. They are sorted when wait
// returns.
func (s *sorter) sort(l *segmented, i, j int) {
	s.share(j-i, func() { s.radix(l, i, j) })
}

func (s *sorter) wait() { s.wg.Wait() }

// digit is the position of up to eight consecutive bits in a record: the lowest bit, from 0 in
// Lo and from 64 in Hi.
type digit uint

func (d digit) of(r Record) uint8 {
	if d >= 64 {
		return uint8(r.Hi >> (d - 64))
	}
	return uint8(r.Lo >> d)
}

// highest returns the digit whose highest bit is the highest bit set in diff.
func highest(diff Record) digit {
	if diff.Hi != 0 {
		return digit(64 + max(bits.Len64(diff.Hi)-8, 0))
	}
	return digit(max(bits.Len64(diff.Lo)-8, 0))
}

// radix sorts the records from i to j, which may be in several segments.
func (s *sorter) radix(l *segmented, i, j int) {
	if l.mend(i, j) {
		return
	}
	first := *l.at(i)
	var diff Record
	for span := range (Extent{l, i, j}).Spans() {
		for _, r := range span {
			diff.Hi |= r.Hi ^ first.Hi
			diff.Lo |= r.Lo ^ first.Lo
		}
	}
	d := highest(diff)
	var next, end [256]int
	for span := range (Extent{l, i, j}).Spans() {
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
	view := *l // a copy that can be in registers
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

// share runs f, which sorts n records: in another goroutine if n is large enough and one is
// free, else in this one.
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

// maxShift is the farthest that mend moves a record.
const maxShift = 64

// mend sorts few records, or records that are almost in order, by insertion. The records of
// one process usually are. It gives up and reports false if a radix sort would be faster.
func (l *segmented) mend(i, j int) bool {
	at := i
	budget := max(j-i, insertionMax*insertionMax) // moves before a radix sort is faster
	var prev Record
	for span := range (Extent{l, i, j}).Spans() {
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
