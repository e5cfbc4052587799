package census

import (
	"cmp"
	"iter"
	"slices"
)

// maxLists is how many process values have a list of their own: enough for nearly
// every collection, in little memory.
const maxLists = 1024

// byProcess holds records by process value. The first maxLists values have a list
// each, in which their ids are in the order of the source: mostly in order of time,
// so that there is little to sort. All others share one list.
type byProcess struct {
	lists  []*records
	of     []uint64             // process value of each list
	slots  [4 * maxLists]uint16 // hash table: index in lists plus 1
	rest   records
	sorted bool
}

func newByProcess(memory *slab) *byProcess {
	return &byProcess{rest: records{shift: largeSegments, slab: memory}}
}

// addSorted adds records that are mostly sorted. base is added to their places.
func (b *byProcess) addSorted(part []record, base uint32) {
	for len(part) > 0 {
		value, n := part[0].value(), 1
		for n < len(part) && part[n].value() == value {
			n++
		}
		b.list(value).appendAt(part[:n], base)
		part = part[n:]
	}
}

// list returns the list that records with the process value belong to.
func (b *byProcess) list(value uint64) *records {
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
	l := &records{shift: smallSegments, slab: b.rest.slab}
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

// extent is the records from i to j, not included, of a list: those of one process
// value, or of several.
type extent struct {
	list *records
	i, j int
}

func (e extent) len() int { return e.j - e.i }

func (e extent) value() uint64 { return e.list.at(e.i).value() }

func (e extent) spans() iter.Seq[[]record] { return e.list.spans(e.i, e.j) }

// ordered returns the lists of single process values in the order of these.
func (b *byProcess) ordered() []extent {
	var out []extent
	for _, l := range b.lists {
		out = append(out, extent{l, 0, l.len()})
	}
	slices.SortFunc(out, func(p, q extent) int { return cmp.Compare(p.value(), q.value()) })
	return out
}

// values returns the records of each process value from first to end, not included, in
// the order of the values. The records must be sorted; those of other values may
// change while the result is read.
func (b *byProcess) values(first, end uint64) iter.Seq[extent] {
	lists := slices.DeleteFunc(b.ordered(), func(e extent) bool { return e.value() < first || e.value() >= end })
	i := b.rest.search(0, b.rest.len(), func(r record) bool { return r.value() >= first })
	n := b.rest.search(i, b.rest.len(), func(r record) bool { return r.value() >= end })
	return func(yield func(extent) bool) {
		for i < n || len(lists) > 0 {
			var next extent
			if i == n || len(lists) > 0 && lists[0].value() < b.rest.at(i).value() {
				next, lists = lists[0], lists[1:]
			} else {
				next = extent{&b.rest, i, b.rest.endOfValue(i, n)}
				i = next.j
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
	var out []weighted
	for _, e := range b.ordered() {
		out = append(out, weighted{e.value(), e.len()})
	}
	step := b.rest.len()/parts + 1
	for i := 0; i < b.rest.len(); i += step {
		out = append(out, weighted{b.rest.at(i).value(), min(step, b.rest.len()-i)})
	}
	return out
}

// endOfValue returns the end of the records, at j or before, that have the
// process value of record i.
func (l *records) endOfValue(i, j int) int {
	value := l.at(i).value()
	// Where there are many process values most have few ids, so look nearby first.
	step := 1
	for i+step < j && l.at(i+step).value() == value {
		i += step
		step *= 2
	}
	return l.search(i+1, min(i+step, j), func(r record) bool { return r.value() != value })
}
