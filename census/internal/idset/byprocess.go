package idset

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/oidkit/oid/internal/each"
)

// maxLists is how many process values have a list of their own: enough for nearly
// every collection, in little memory.
const maxLists = 1024

// byProcess holds records by process value. The first maxLists values have a list
// each, in which their ids are in the order of the source: mostly in order of time,
// so that there is little to sort. All others share one list.
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

// add adds records, with base added to their places.
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

// list returns the list that records with the process value belong to.
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

// sort sorts every list, using up to workers goroutines.
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

// Extent is the records from i to j, not included, of a list: those of one process
// value, or some of them. The zero Extent has none.
type Extent struct {
	list *segmented
	i, j int
}

// Len returns how many records e has.
func (e Extent) Len() int { return e.j - e.i }

// At returns record k.
func (e Extent) At(k int) *Record { return e.list.at(e.i + k) }

// Value returns the process value of the first record.
func (e Extent) Value() uint64 { return e.At(0).Value() }

// Part returns the records from i to j, not included.
func (e Extent) Part(i, j int) Extent { return Extent{e.list, e.i + i, e.i + j} }

// Search returns the first index from i on whose record f holds for, or e.Len(). f
// must be false up to some record and true from there on.
func (e Extent) Search(i int, f func(Record) bool) int {
	return i + sort.Search(e.Len()-i, func(k int) bool { return f(*e.At(i + k)) })
}

// Sort sorts the records.
func (e Extent) Sort() { new(sorter).radix(e.list, e.i, e.j) }

// Spans yields the records in as many slices as their memory has.
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

// Distinct yields the first record of each id. The records must be sorted.
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

// ordered returns the lists of single process values in the order of these.
func (b *byProcess) ordered() []Extent {
	out := each.Of(b.lists, (*segmented).all)
	slices.SortFunc(out, func(p, q Extent) int { return cmp.Compare(p.Value(), q.Value()) })
	return out
}

// values returns the records of each process value from first to end, not included, in
// the order of the values. The records must be sorted; those of other values may
// change while the result is read.
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

// sample returns how many records there are near some process values. The records
// must be sorted.
func (b *byProcess) sample() []weighted {
	const parts = 256
	out := each.Of(b.ordered(), func(e Extent) weighted { return weighted{e.Value(), e.Len()} })
	step := b.rest.len()/parts + 1
	for i := 0; i < b.rest.len(); i += step {
		out = append(out, weighted{b.rest.at(i).Value(), min(step, b.rest.len()-i)})
	}
	return out
}

// endOfValue returns how many records from the first one on have its process value.
func (e Extent) endOfValue() int {
	value := e.Value()
	// Where there are many process values most have few ids, so look nearby first.
	i, step := 0, 1
	for i+step < e.Len() && e.At(i+step).Value() == value {
		i += step
		step *= 2
	}
	return e.Part(0, min(i+step, e.Len())).Search(i+1, func(r Record) bool { return r.Value() != value })
}
