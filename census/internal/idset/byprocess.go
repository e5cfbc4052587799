package idset

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/oidkit/oid/internal/each"
)

// maxLists is how many process values have their own lists. Nearly all collections have
// fewer, and 1,024 lists need little memory.
const maxLists = 1024

// byProcess stores records by process value. Each of the first maxLists values has its own
// list. Sources are mostly in order of time, and so are these lists: there is little to sort.
// All other values share the list rest.
type byProcess struct {
	lists  []*segmented
	of     []uint64             // process value of each list
	slots  [4 * maxLists]uint16 // hash table: index in lists plus 1
	rest   segmented
	sorted bool
}

func newByProcess(memory *slab) *byProcess {
	return &byProcess{rest: segmented{shift: largeSegments, slab: memory}}
}

// add adds records, and adds base to their places.
func (b *byProcess) add(part []Record, base uint32) {
	last, list := uint64(EndOfValues), (*segmented)(nil)
	for _, r := range part {
		if v := r.Value(); v != last {
			last, list = v, b.list(v)
		}
		r.Lo += uint64(base)
		list.add(r)
	}
}

// list returns the list for records with a process value.
func (b *byProcess) list(value uint64) *segmented {
	b.sorted = false
	slot := value * 0x9E3779B97F4A7C15 >> 52 // Knuth's multiplicative hashing
	for {
		n := b.slots[slot]
		if n == 0 {
			break
		}
		if b.of[n-1] == value {
			return b.lists[n-1]
		}
		slot = (slot + 1) % uint64(len(b.slots))
	}
	if len(b.lists) == maxLists {
		return &b.rest
	}
	l := &segmented{shift: smallSegments, slab: b.rest.slab}
	b.lists = append(b.lists, l)
	b.of = append(b.of, value)
	b.slots[slot] = uint16(len(b.lists))
	return l
}

func (b *byProcess) len() int {
	n := b.rest.len()
	for _, l := range b.lists {
		n += l.len()
	}
	return n
}

// sort sorts every list with up to workers goroutines.
func (b *byProcess) sort(workers int) {
	if b.sorted {
		return
	}
	s := newSorter(workers)
	for _, l := range b.lists {
		s.sort(l, 0, l.len())
	}
	s.sort(&b.rest, 0, b.rest.len())
	s.wait()
	b.sorted = true
}

// Extent is a sequence of consecutive records in one list. Usually they are the records of one
// process value. The zero Extent is empty.
type Extent struct {
	list *segmented
	i, j int // the records from i to j, not included
}

// Len returns the number of records.
func (e Extent) Len() int { return e.j - e.i }

// At returns record k, which must be from 0 to e.Len()-1.
func (e Extent) At(k int) *Record { return e.list.at(e.i + k) }

// Value returns the process value of the first record. e must not be empty.
func (e Extent) Value() uint64 { return e.At(0).Value() }

// Part returns the records of e from i up to, but not including, j.
func (e Extent) Part(i, j int) Extent { return Extent{e.list, e.i + i, e.i + j} }

// Search finds, by binary search, the first index k >= i for whose record f returns true. If
// there is none, it returns e.Len(). From i to k-1 f must return false, and from k on true.
func (e Extent) Search(i int, f func(Record) bool) int {
	return i + sort.Search(e.Len()-i, func(k int) bool { return f(*e.At(i + k)) })
}

// Sort sorts the records as numbers of 128 bits; see [Record].
func (e Extent) Sort() { new(sorter).radix(e.list, e.i, e.j) }

// Spans yields all records in order, in slices that share the memory of e. It is faster than
// [Extent.At].
func (e Extent) Spans() iter.Seq[[]Record] {
	return func(yield func([]Record) bool) {
		for i := e.i; i < e.j; {
			segment := e.list.segments[i>>e.list.shift]
			from := i & (1<<e.list.shift - 1)
			to := min(len(segment), from+e.j-i)
			if !yield(segment[from:to]) {
				return
			}
			i += to - from
		}
	}
}

// Distinct yields the first record of each id. The records of e must be sorted.
func (e Extent) Distinct() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		var prev Record
		started := false
		for span := range e.Spans() {
			for _, r := range span {
				if started && r.SameID(prev) {
					continue
				}
				prev, started = r, true
				if !yield(r) {
					return
				}
			}
		}
	}
}

// ordered returns the lists of single process values, by process value.
func (b *byProcess) ordered() []Extent {
	out := each.Of(b.lists, (*segmented).all)
	slices.SortFunc(out, func(p, q Extent) int { return cmp.Compare(p.Value(), q.Value()) })
	return out
}

// values yields the records of each process value from first to end, not included, in the
// order of the values. The lists must be sorted. While the result is read, only records of
// other process values may change.
func (b *byProcess) values(first, end uint64) iter.Seq[Extent] {
	lists := slices.DeleteFunc(b.ordered(), func(e Extent) bool { return e.Value() < first || e.Value() >= end })
	rest := b.rest.all()
	i := rest.Search(0, func(r Record) bool { return r.Value() >= first })
	rest = rest.Part(i, rest.Search(i, func(r Record) bool { return r.Value() >= end }))
	return func(yield func(Extent) bool) {
		for rest, lists := rest, lists; rest.Len() > 0 || len(lists) > 0; {
			var next Extent
			if rest.Len() == 0 || len(lists) > 0 && lists[0].Value() < rest.Value() {
				next, lists = lists[0], lists[1:]
			} else {
				n := rest.endOfValue()
				next, rest = rest.Part(0, n), rest.Part(n, rest.Len())
			}
			if !yield(next) {
				return
			}
		}
	}
}

// sample returns about how many records there are, by process value: exactly for the values
// with their own lists, and for steps through the others. The lists must be sorted.
func (b *byProcess) sample() []weighted {
	const parts = 256
	out := each.Of(b.ordered(), func(e Extent) weighted { return weighted{e.Value(), e.Len()} })
	step := b.rest.len()/parts + 1
	for i := 0; i < b.rest.len(); i += step {
		out = append(out, weighted{b.rest.at(i).Value(), min(step, b.rest.len()-i)})
	}
	return out
}

// endOfValue returns how many records at the beginning of e have the process value of the
// first record. e must be sorted and not empty.
func (e Extent) endOfValue() int {
	value := e.Value()
	// If there are many process values, most have few ids. So look at the next records first.
	i, step := 0, 1
	for i+step < e.Len() && e.At(i+step).Value() == value {
		i += step
		step *= 2
	}
	return e.Part(0, min(i+step, e.Len())).Search(i+1, func(r Record) bool { return r.Value() != value })
}
