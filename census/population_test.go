package census_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oidkit/oid/objectid"
)

// A population is what a collection may hold, made by processes that are played
// in time, and what is true of it.
type population struct {
	random *rand.Rand
	start  int64 // Unix seconds
	ids    []objectid.ID

	// By process value, for processes without a fault that hides it.
	missing map[[5]byte]int64
	stepped map[[5]byte]bool
	shared  map[[5]byte]bool

	repeated, bounds, future int64
}

// process is one process that makes ids.
type process struct {
	value   [5]byte
	counter uint32
	rate    float64 // ids a second
	kept    float64 // the share that goes into this collection
	threads int     // that may overtake each other between clock and counter
	from    int64   // seconds after the population's start
	until   int64
	stepAt  int64 // when the clock is set back, 0 for never
	stepBy  int64
}

func newPopulation(seed uint64) *population {
	return &population{
		random:  rand.New(rand.NewPCG(seed, 1)),
		start:   1_700_000_000 + int64(seed%1000)*86_413,
		missing: map[[5]byte]int64{}, stepped: map[[5]byte]bool{}, shared: map[[5]byte]bool{},
	}
}

// anyProcess returns a process of a random kind.
func (p *population) anyProcess() process {
	r := p.random
	a := process{
		counter: r.Uint32() & 0xFFFFFF,
		rate:    []float64{0.3, 2, 20, 300}[r.IntN(4)],
		kept:    []float64{1, 1, 0.5, 0.05}[r.IntN(4)],
		threads: 1 + r.IntN(32),
		from:    r.Int64N(600),
	}
	a.until = a.from + 20 + r.Int64N(max(int64(900/max(a.rate/6, 1)), 1))
	if r.IntN(2) == 0 { // soon to wrap
		a.counter = 0xFFFFFF - r.Uint32N(2000)
	}
	for i := range a.value {
		a.value[i] = byte(r.Uint32())
	}
	return a
}

// stored is an id and when it was stored.
type stored struct {
	at float64
	id objectid.ID
}

// play lets the processes make their ids and puts them in the order in which they
// were stored.
func (p *population) play(processes ...process) {
	var all []stored
	for _, a := range processes {
		all = append(all, p.playOne(a)...)
	}
	slices.SortStableFunc(all, func(x, y stored) int {
		switch {
		case x.at < y.at:
			return -1
		case x.at > y.at:
			return 1
		}
		return 0
	})
	for _, s := range all {
		p.ids = append(p.ids, s.id)
	}
}

func (p *population) playOne(a process) []stored {
	var out []stored
	first, last, kept := int64(-1), int64(-1), int64(0)
	position := int64(0)
	now := float64(a.from)
	type half struct { // of an id: the clock has been read, the number not taken
		second int64
		at     float64
	}
	var waiting []half
	take := func() {
		// Of the threads that have read the clock any may be next.
		i := p.random.IntN(len(waiting))
		h := waiting[i]
		waiting = slices.Delete(waiting, i, i+1)
		if p.random.Float64() < a.kept {
			var id objectid.ID
			binary.BigEndian.PutUint32(id[0:], uint32(p.start+h.second))
			binary.BigEndian.PutUint32(id[8:], (a.counter+uint32(position))&0xFFFFFF)
			copy(id[4:9], a.value[:])
			if first < 0 {
				first = position
			}
			last = position
			kept++
			out = append(out, stored{h.at + p.random.Float64()*0.9, id})
		}
		position++
	}
	for now < float64(a.until) {
		now += p.random.ExpFloat64() / a.rate
		second := int64(now)
		if a.stepAt != 0 && now >= float64(a.stepAt) {
			second -= a.stepBy
		}
		// A thread does not sleep for long between the two.
		for len(waiting) > 0 && now-waiting[0].at > 0.5 {
			take()
		}
		waiting = append(waiting, half{second, now})
		if len(waiting) >= a.threads {
			take()
		}
	}
	for len(waiting) > 0 {
		take()
	}
	if kept > 0 {
		p.missing[a.value] = last - first + 1 - kept
	}
	return out
}

// id returns an id that some process made at an offset to the start.
func (p *population) id(offset time.Duration) objectid.ID {
	var id objectid.ID
	for i := range id {
		id[i] = byte(p.random.Uint32())
	}
	binary.BigEndian.PutUint32(id[:], uint32(p.start+int64(offset/time.Second)))
	return id
}
