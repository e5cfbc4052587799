package census

import (
	"cmp"
	"iter"
	"slices"
)

// maxLists is how many writers have a list of their own.
const maxLists = 1024

// byWriter holds records by writer. The first writers to come have a list each,
// in which their ids stand in the order of the source: mostly in order of time,
// so that there is little to sort. All others share one.
type byWriter struct {
	lists  []*records
	of     []uint64             // process value of each list
	slots  [4 * maxLists]uint16 // hash table: index in lists plus 1
	rest   records
	sorted bool
}

func newByWriter() *byWriter { return &byWriter{rest: records{shift: largeSegments}} }

func (b *byWriter) add(r record) { b.list(r.process()).add(r) }

// list returns the list that records with the process value belong to.
func (b *byWriter) list(process uint64) *records {
	slot := process * 0x9E3779B97F4A7C15 >> 52 // Knuth's multiplicative hashing
	for {
		n := b.slots[slot]
		if n == 0 {
			break
		}
		if b.of[n-1] == process {
			return b.lists[n-1]
		}
		slot = (slot + 1) % uint64(len(b.slots))
	}
	if len(b.lists) == maxLists {
		return &b.rest
	}
	l := &records{shift: smallSegments}
	b.lists = append(b.lists, l)
	b.of = append(b.of, process)
	b.slots[slot] = uint16(len(b.lists))
	return l
}

func (b *byWriter) len() int {
	n := b.rest.len()
	for _, l := range b.lists {
		n += l.len()
	}
	return n
}

// sort sorts every list, using up to workers goroutines.
func (b *byWriter) sort(workers int) {
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

// part is where the records of one writer, or of several, are.
type part struct {
	list *records
	i, j int
}

func (p part) len() int { return p.j - p.i }

func (p part) process() uint64 { return p.list.at(p.i).process() }

// ordered returns the lists of single writers in the order of process values.
func (b *byWriter) ordered() []part {
	var out []part
	for _, l := range b.lists {
		out = append(out, part{l, 0, l.len()})
	}
	slices.SortFunc(out, func(p, q part) int { return cmp.Compare(p.process(), q.process()) })
	return out
}

// shares divides all records, which must be sorted, into n shares of about the
// same size. No writer is in two of them, nor are two of which one may be a part
// of the other, see joins. Their order does not depend on that of the sources.
func (b *byWriter) shares(n int) [][]part {
	parts := b.ordered()
	rest := b.rest.len()
	for i, k := 0, 1; i < rest; k++ {
		j := rest
		if k < n {
			j = b.rest.endOfBlock(max(i, rest/n*k), rest)
		}
		parts = append(parts, part{&b.rest, i, j})
		i = j
	}
	out := make([][]part, n)
	all, before := b.len(), 0
	block, last := uint64(0), 0
	for _, p := range parts {
		k := min((before+p.len()/2)*n/max(all, 1), n-1)
		if p.process()>>8 == block && before > 0 {
			k = last
		}
		out[k] = append(out[k], p)
		before += p.len()
		block, last = p.process()>>8, k
	}
	return out
}

// writers yields every writer's records, in the order of process values. The
// records must be sorted.
func (b *byWriter) writers() iter.Seq[part] {
	return func(yield func(part) bool) {
		lists := b.ordered()
		i, n := 0, b.rest.len()
		for i < n || len(lists) > 0 {
			var next part
			if i == n || len(lists) > 0 && lists[0].process() < b.rest.at(i).process() {
				next, lists = lists[0], lists[1:]
			} else {
				next = part{&b.rest, i, b.rest.endOfWriter(i, n)}
				i = next.j
			}
			if !yield(next) {
				return
			}
		}
	}
}
