package census

import (
	"iter"
	"math"
	"slices"
	"sync"
)

// idSet holds the ids of one collection.
type idSet struct{ memory *byProcess }

func newIDSet() *idSet { return &idSet{memory: newByProcess()} }

func (s *idSet) add(r record) {
	s.memory.sorted = false
	s.memory.add(r)
}

// addAll adds records of one process value. base is added to their places.
func (s *idSet) addAll(value uint64, part []record, base uint32) {
	s.memory.sorted = false
	s.memory.list(value).appendAt(part, base)
}

func (s *idSet) len() int { return s.memory.len() }

// visitor examines the ids of a set.
type visitor interface {
	// value is called with the records of every process value, in the order of the
	// values, each sorted by second, counter and place. It may reorder them, but
	// must restore their order before it returns.
	value(e extent)

	// endBlock is called after all process values that have their upper four bytes
	// in common, of which one may continue another. Their extents are invalid
	// afterwards.
	endBlock()
}

// visit lets visitors examine all ids, each in a goroutine of its own. The share of
// a visitor is a range of process values that comes after those of the visitors
// before it. Values with the same first three bytes, which may name a machine, are
// in one share.
func (s *idSet) visit(workers int, newVisitor func(share int) visitor) error {
	s.memory.sort(workers)
	from := uint64(0)
	var shares []func()
	for k, to := range s.cuts(workers) {
		v, values := newVisitor(k), s.memory.values(from, to)
		shares = append(shares, func() { visitValues(v, values) })
		from = to
	}
	var wg sync.WaitGroup
	for _, share := range shares {
		wg.Go(share)
	}
	wg.Wait()
	return nil
}

// visitValues visits the process values of one share.
func visitValues(v visitor, values iter.Seq[extent]) {
	block := uint64(math.MaxUint64)
	for e := range values {
		value := e.value()
		if block != value>>8 && block != math.MaxUint64 {
			v.endBlock()
		}
		block = value >> 8
		v.value(e)
	}
	if block != math.MaxUint64 {
		v.endBlock()
	}
}

// endOfValues is above every process value.
const endOfValues = 1 << 40

// weighted is how many records there are near a process value.
type weighted struct {
	value   uint64
	records int
}

// cuts returns the ends of at most n ranges of process values with about the same
// number of records.
func (s *idSet) cuts(n int) []uint64 {
	const machineBits = 16 // of a process value, after the machine
	sample := s.memory.sample()
	slices.SortFunc(sample, func(a, b weighted) int { return int(int64(a.value) - int64(b.value)) })
	total, before := s.len(), 0
	var out []uint64
	for _, w := range sample {
		cut := w.value >> machineBits << machineBits
		if len(out) < n-1 && before >= total/n*(len(out)+1) && cut > 0 && (len(out) == 0 || cut > out[len(out)-1]) {
			out = append(out, cut)
		}
		before += w.records
	}
	return append(out, endOfValues)
}

// distinct yields the first record of each id, by process value and time.
func (s *idSet) distinct(workers int) iter.Seq[record] {
	s.memory.sort(workers)
	return func(yield func(record) bool) {
		for e := range s.memory.values(0, endOfValues) {
			for r := range distinct(e.spans()) {
				if !yield(r) {
					return
				}
			}
		}
	}
}
