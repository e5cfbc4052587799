package census

import (
	"container/heap"
)

// gather collects the records of each process value from several runs.
type gather struct {
	runs runHeap
	list records // of the process values since the last end of a block
	room *room
}

// runHeap has the run with the lowest process value on top.
type runHeap []*runReader

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return h[i].ids[0].value() < h[j].ids[0].value() }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(*runReader)) }

func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// newGather returns a gather of the process values from first to end, not included, that
// keeps at most about inMemory records in memory.
func newGather(runs []*run, first, end uint64, inMemory int) (*gather, error) {
	g := &gather{room: newRoom(inMemory)}
	g.list = records{shift: largeSegments, room: g.room}
	for _, r := range runs {
		reader, err := r.reader(first, end)
		if err != nil {
			return nil, err
		}
		if _, ok := reader.value(); ok {
			g.runs = append(g.runs, reader)
		}
	}
	heap.Init(&g.runs)
	return g, nil
}

// next returns the records of the next process value, sorted; empty at the end. They
// stay until reset.
func (g *gather) next() (extent, error) {
	i := g.list.len()
	if len(g.runs) == 0 {
		return extent{&g.list, i, i}, nil
	}
	value, parts := g.runs[0].ids[0].value(), 0
	for len(g.runs) > 0 && g.runs[0].ids[0].value() == value {
		if err := g.runs[0].take(&g.list); err != nil {
			return extent{}, err
		}
		parts++
		if _, ok := g.runs[0].value(); ok {
			heap.Fix(&g.runs, 0)
		} else {
			heap.Pop(&g.runs)
		}
	}
	if err := g.room.err; err != nil {
		return extent{}, err
	}
	e := extent{&g.list, i, g.list.len()}
	if parts > 1 {
		g.list.sort(e.i, e.j)
	}
	return e, nil
}

// reset makes room for other records.
func (g *gather) reset() { g.list.truncate() }

// close gives the room back.
func (g *gather) close() error { return g.room.close() }
