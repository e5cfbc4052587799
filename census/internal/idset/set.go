// Package idset stores the ids of a census at 16 bytes each, in memory or, beyond a limit, on
// disk. It then visits them sorted by process value and time.
//
// A [Record] is an id and its place. The place is the number of the id's document, line or
// row, counted through all sources of a census from 0. An [Extent] is a sequence of
// consecutive records. A run is a set of sorted records on disk.
//
// A [Space] limits the memory of several sets. [Set.Add] appends records to the list of
// their process value (byprocess.go), in segments that never move (record.go, slab.go).
// [Space.Fit] sorts these lists (sort.go) and writes them to disk (space.go). [Set.Visit]
// visits the ids of one process value after the other.
package idset

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Set is a set of ids. Its newest records are in memory, the others in runs on disk. It is not
// safe for concurrent use.
type Set struct {
	memory *byProcess
	runs   []*run
	space  *Space
}

// Add adds records. It adds base to their places, which count from the start of a batch.
func (s *Set) Add(part []Record, base uint32) {
	s.space.InMemory += len(part)
	s.memory.add(part, base)
}

// Visitor examines the ids of a set. [Set.Visit] calls it once for each process value, in
// ascending order, with the records of that value sorted by second, counter and place. The
// visitor may reorder the records, but must restore their order before it returns.
//
// A counter may overflow into the next process value, within the process values that have
// their first four bytes in common. After the last value of such a block, the visitor is
// called with an empty extent. Extents of the block are invalid after that call.
type Visitor func(e Extent)

// Visit examines all ids with up to workers visitors, each in its own goroutine. Each
// visitor gets a range of process values; the second visitor gets greater values than the
// first, and so on. Values with the same first three bytes, which may stand for a machine,
// go to one visitor. The error is that of reading runs from disk.
func (s *Set) Visit(workers int, newVisitor func() Visitor) error {
	s.memory.sort(workers)
	from := uint64(0)
	var shares []func() error
	for _, to := range s.cuts(from, EndOfValues, func(int) int { return workers }) {
		v, first := newVisitor(), from
		values := s.memory.values(first, to) // before any visitor reorders records
		shares = append(shares, func() error {
			if len(s.runs) > 0 {
				return s.visitRuns(v, first, to, max(1, s.space.Room/workers))
			}
			visitValues(v, values)
			return nil
		})
		from = to
	}
	if len(shares) == 1 {
		return shares[0]()
	}
	var g errgroup.Group
	for _, share := range shares {
		g.Go(share)
	}
	return g.Wait()
}

// visitRuns visits the process values from first to end, not included, that are in runs. It
// loads about rangeRecords at a time. room is how many records may be in memory.
func (s *Set) visitRuns(v Visitor, first, end uint64, room int) (err error) {
	memory := slab{limit: room}
	defer func() { err = errors.Join(err, memory.close()) }()
	for _, to := range s.cuts(first, end, func(records int) int { return records/min(room, rangeRecords) + 1 }) {
		m := newByProcess(&memory)
		for _, r := range s.runs {
			if err := r.load(m, first, to); err != nil {
				return err
			}
		}
		if memory.err != nil {
			return memory.err
		}
		m.sort(1)
		visitValues(v, m.values(first, to))
		memory.reset()
		first = to
	}
	return nil
}

// rangeRecords is about how many records of runs are loaded at a time. The records of one
// machine are always loaded together.
const rangeRecords = 1 << 18

// visitValues visits the process values of one share.
func visitValues(v Visitor, values iter.Seq[Extent]) {
	block := uint64(math.MaxUint64)
	for e := range values {
		value := e.Value()
		if block != value>>8 && block != math.MaxUint64 {
			v(Extent{})
		}
		block = value >> 8
		v(e)
	}
	v(Extent{})
}

// EndOfValues is one more than the greatest process value.
const EndOfValues = 1 << 40

// weighted is an element of a sample: the number of records at or shortly after a process
// value.
type weighted struct {
	value   uint64
	records int
}

// cuts divides the process values from first to end, not included, into ranges with about
// equal numbers of records, and returns the ends of these ranges. n returns the most ranges
// for a number of records.
func (s *Set) cuts(first, end uint64, n func(records int) int) []uint64 {
	const machineBits = 16 // bits of a process value after the three bytes of the machine
	sample := s.memory.sample()
	for _, r := range s.runs {
		sample = append(sample, r.sample...)
	}
	sample = slices.DeleteFunc(sample, func(w weighted) bool { return w.value < first || w.value >= end })
	slices.SortFunc(sample, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	total, before := 0, 0
	for _, w := range sample {
		total += w.records
	}
	parts := n(total)
	var out []uint64
	for _, w := range sample {
		cut := w.value >> machineBits << machineBits
		if len(out) < parts-1 && before >= total/parts*(len(out)+1) && cut > first && (len(out) == 0 || cut > out[len(out)-1]) {
			out = append(out, cut)
		}
		before += w.records
	}
	return append(out, end)
}

// Distinct yields the first record of each id, in the order of process value, time and
// counter. If runs cannot be read, it sets failed and ends.
func (s *Set) Distinct(failed *error) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		over := false
		if err := s.Visit(1, func() Visitor {
			return func(e Extent) {
				for r := range e.Distinct() {
					if over = over || !yield(r); over {
						return
					}
				}
			}
		}); err != nil && *failed == nil {
			*failed = err
		}
	}
}

// Merge compares two sorted sequences of different ids. It calls only with each record whose
// id is in one sequence but not in the other, and returns the number of ids that are in both.
// If only returns an error, Merge ends with that error.
func Merge(a, b iter.Seq[Record], only func(inA bool, r Record) error) (both int64, err error) {
	next, stop := iter.Pull(b)
	defer stop()
	y, ok := next()
	for x := range a {
		for ; err == nil && ok && !x.SameID(y) && y.less(x); y, ok = next() {
			err = only(false, y)
		}
		switch {
		case err != nil:
			return both, err
		case ok && x.SameID(y):
			both++
			y, ok = next()
		default:
			err = only(true, x)
		}
	}
	for ; err == nil && ok; y, ok = next() {
		err = only(false, y)
	}
	return both, err
}
