// Package idset holds the ids of a census: 16 bytes for each, sorted by process value and
// time when they are visited, in memory and beyond a limit on disk.
//
// A [Space] limits the memory of several sets. [Set.Add] appends records to the list of
// their process value (byprocess.go), in segments that never move (record.go, slab.go).
// [Space.Fit] sorts what is there (sort.go) and writes it to disk (space.go). [Set.Visit]
// brings the ids of one process value after the other.
package idset

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Set holds ids: in memory, and those for which there was no room there in runs on disk.
type Set struct {
	memory *byProcess
	runs   []*run
	space  *Space
}

// Add adds records, with base added to their places.
func (s *Set) Add(part []Record, base uint32) {
	s.space.InMemory += len(part)
	s.memory.add(part, base)
}

// Visitor examines the ids of a set. It is called with the records of every process value,
// in the order of the values, each sorted by second, counter and place. It may reorder them,
// but must restore their order before it returns. After all process values that have their
// upper four bytes in common, of which one may continue another, it is called with no
// records. Their extents are invalid afterwards.
type Visitor func(e Extent)

// Visit lets visitors examine all ids, each in a goroutine of its own. The share of
// a visitor is a range of process values that comes after those of the visitors
// before it. Values with the same first three bytes, which may name a machine, are
// in one share.
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

// visitRuns visits the process values from first to end of runs: as many of them at a time
// as make rangeRecords. room is how many records may be in memory.
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

// rangeRecords is about how many records of runs are in memory at once, unless those of one
// machine are more.
const rangeRecords = 1 << 20

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

// EndOfValues is above every process value.
const EndOfValues = 1 << 40

// weighted is how many records there are near a process value.
type weighted struct {
	value   uint64
	records int
}

// cuts returns the ends of ranges with about the same number of records, into which the
// process values from first to end, not included, are divided: as many, at most, as n
// returns given the number of all records.
func (s *Set) cuts(first, end uint64, n func(records int) int) []uint64 {
	const machineBits = 16 // of a process value, after the machine
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

// Distinct yields the first record of each id, by process value and time. It sets failed
// if not all can be read.
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

// Merge reads two sorted sequences. It calls only with each record that one of them
// alone has, and returns how many both have.
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
