package objectid

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure a [Generator].
type Options struct {
	// Layout of the ids. Default: [Modern].
	Layout Layout

	// Block, if not nil, is the first four bytes of the process value. No other generator
	// may have the same Block: package registry assigns Blocks. The Layout must be Modern.
	// Default: random.
	Block *[4]byte

	// NewBlock, if not nil, gives Reseed another Block. It must return false if there is none.
	// New and Fill wait until it returns, so it must not use the generator. It requires Block.
	NewBlock func() (block [4]byte, ok bool)

	// Counter, if not nil, is the first value of the counter. If Now and Block are also
	// fixed, every run generates equal ids. Default: random.
	Counter *uint32

	// MaxLead, if above 0, limits [Generator.Lead]. Beyond MaxLead the generator changes its
	// process value and goes back to the second of the clock: ids decrease once. Default: no
	// limit.
	MaxLead time.Duration

	// Now must return the time and be safe for concurrent use. The time may jump.
	// Default: the system clock.
	Now func() time.Time
}

// Generator generates ids for any number of goroutines. [NewGenerator] creates one. Do not
// copy it. The zero Generator panics.
type Generator struct {
	// An id is composed of two atomic words, value and state, that are read separately:
	//
	//	          32 bits   32 bits   32 bits: the low word
	//	id        seconds   block     prefix | state&mask
	//	from      state     value     state
	//
	//	layout    mask and bits    counter     prefix           reset
	//	Modern    FFFFFFFF   32    00FFFFFF    0                the fifth byte of the process value
	//	Java      FFFFFFFF   32    FFFFFFFF    0                0
	//	Classic   00FFFFFF   24    00FFFFFF    low byte of pid  0
	//
	// Generating an id is one atomic addition to state. Three invariants make ids unique:
	//
	//  1. Under one block, no two ids have the same state. take adds to state. When a second
	//     begins, take raises state to sec<<bits | counter | reset: the counter continues, and a
	//     carry into the fifth byte is undone. Only MaxLead lowers state, see limitLead.
	//  2. value holds the block in its low 32 bits. Its high bits count the changes; that number
	//     is odd while change runs. change, under the mutex, makes the number odd, then sets state
	//     to a later second (or to an earlier one for MaxLead) with a new low word, then sets
	//     reset, and finally stores the new block with an even number.
	//  3. New and Fill read value before and after they take from state. If the two readings
	//     differ or are odd, they discard what they took. So the state of an id was taken while
	//     value held the block of that id: no id combines an old block with a new state.
	//
	// New and Fill compare the generation of the virtual machine after they take from state and
	// before they read value again. So they notice each snapshot that was made before an id was
	// complete, even if another goroutine has already changed the process value because of it.

	// These fields are written once, before the generator is shared.

	now   func() time.Time
	given bool      // Options.Now was set: call it for every id
	base  time.Time // origin of recheck, with a monotonic reading

	prefix  uint32 // bits of the low word that are not in state
	mask    uint32 // bits of the low word that are in state
	counter uint64 // bits of the low word that a new second keeps
	bits    uint8  // number of bits of the low word that are in state

	// recheck is the time since base, in nanoseconds, at which to read the clock
	// again. 0 means to read it for every id.
	recheck atomic.Int64

	value atomic.Uint64 // the block, and the number of its changes
	reset atomic.Uint64 // bits of the low word that a new second sets

	machine    *atomic.Uint64 // generation counter of the virtual machine, or nil; see vmClock
	generation atomic.Uint64  // the generation for which the process value was drawn

	reseeding reseeding

	_ [128]byte // the fields above are read only: keep them in other cache lines than state

	state atomic.Uint64 // the seconds, and the low word, of the next id

	_ [128]byte
}

const (
	// maxAge is how long a step of the system clock can go unnoticed.
	maxAge = 100 * time.Millisecond

	// lastFree is the second below which New skips the exhaustion check. Between
	// two checks no more than the ids of a few seconds can be taken.
	lastFree = math.MaxUint32 - 256

	// chunk is how many ids Fill takes from state at once.
	chunk = 1 << 20
)

// ErrExhausted is the panic value of [Generator.New] and [Generator.Fill] when no greater id
// is left, in 2106.
var ErrExhausted = errors.New("objectid: no ids left before the end of time, 2106-02-07T06:28:16Z")

// NewGenerator returns a generator with the options o; nil means the defaults. It fails for an
// unknown Layout, for a Block with another Layout than Modern, for NewBlock without Block, and
// for Classic if the host name cannot be read.
func NewGenerator(o *Options) (*Generator, error) {
	g := new(Generator)
	if err := g.init(cmp.Or(o, &Options{})); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *Generator) init(o *Options) (err error) {
	if g.machine, err = vmClock(); err != nil {
		return err
	}
	if g.machine != nil {
		g.generation.Store(g.machine.Load()) // before the process value is drawn
	}
	block, low, counter, err := o.Layout.words()
	if err != nil {
		return err
	}
	if o.NewBlock != nil && o.Block == nil {
		return errors.New("objectid: NewBlock set without Block")
	}
	if o.Counter != nil {
		low = low&^counter | *o.Counter&counter
	}
	if o.Block != nil {
		if o.Layout != Modern {
			return fmt.Errorf("objectid: Block set for layout %v, want %v", o.Layout, Modern)
		}
		block = binary.BigEndian.Uint32(o.Block[:])
		low &= counter
	}
	g.value.Store(uint64(block))
	g.counter = uint64(counter)
	if o.Layout == Classic {
		// The upper byte belongs to the pid: state leaves it out, and an overflow
		// of the counter carries into the seconds.
		g.bits, g.mask, g.prefix = 24, counter, low&^counter
	} else {
		g.bits, g.mask = 32, math.MaxUint32
		g.reset.Store(uint64(low &^ counter))
	}
	g.base = time.Now()
	g.reseeding.options = *o
	g.now, g.given = o.Now, o.Now != nil
	if !g.given {
		g.now = time.Now
	}
	if o.Layout == Classic && o.Counter == nil {
		g.reseeding.shared = true
		drawClassicCounter(low & counter)
	} else {
		g.state.Store(uint64(low & g.mask))
	}
	return nil
}

var (
	std     Generator
	stdOnce sync.Once
)

func initStd() {
	if err := std.init(&Options{}); err != nil { // only if OID_VMCLOCK names a file that cannot be used
		std.now = func() time.Time { panic(err) } // for each id: a program may recover from the first panic
	}
}

// New returns a new ID from the default generator, which has the default [Options].
func New() ID {
	stdOnce.Do(initStd)
	return std.New()
}

// Fill sets every element of dst to a new ID from the default generator.
func Fill(dst []ID) {
	stdOnce.Do(initStd)
	std.Fill(dst)
}

// New returns a new ID, greater than every earlier ID of g.
func (g *Generator) New() ID {
	for {
		value := g.value.Load()
		v := g.take(1)
		if !g.resumed() && settled(value, g.value.Load()) {
			var id ID
			putWords(&id, v>>(g.bits&63)<<32|value&math.MaxUint32, uint32(v)&g.mask|g.prefix)
			return id
		}
		g.settle()
	}
}

// Fill sets every element of dst to a new ID, in increasing order, and is faster than New. If
// dst has at most 2^20 elements, no other goroutine gets an id between them.
func (g *Generator) Fill(dst []ID) {
	for len(dst) > 0 {
		part := dst[:min(len(dst), chunk)]
		value := g.value.Load()
		v := g.take(uint64(len(part)))
		rest := dst[len(part):]
		for len(part) > 0 {
			// Up to the next overflow only the low word changes.
			room := uint64(g.mask) - v&uint64(g.mask) + 1
			run := part[:min(uint64(len(part)), room)]
			fillRun(run, uint32(v>>(g.bits&63)), uint32(value), uint32(v)&g.mask|g.prefix)
			part = part[len(run):]
			v += uint64(len(run))
		}
		if g.resumed() || !settled(value, g.value.Load()) {
			g.settle()
			continue
		}
		dst = rest
	}
}

// fillRun sets dst to the ids with the given words, low increasing by one.
func fillRun(dst []ID, seconds, block, low uint32) {
	var head [8]byte
	binary.BigEndian.PutUint32(head[0:], seconds)
	binary.BigEndian.PutUint32(head[4:], block)
	both := binary.NativeEndian.Uint64(head[:])
	for i := range dst {
		id := &dst[i]
		binary.NativeEndian.PutUint64(id[0:], both)
		binary.BigEndian.PutUint32(id[8:], low)
		low++
	}
}

// Lead returns how far the last ID is ahead of the clock, in whole seconds. It is above 0 after
// the clock was set back, after all ids of a second were used, or after Reseed.
func (g *Generator) Lead() time.Duration {
	next := g.state.Load()
	last := (max(next, 1) - 1) >> g.bits
	return time.Duration(max(int64(last)-int64(second(g.now())), 0)) * time.Second
}

// take reserves n values of state and returns the first.
func (g *Generator) take(n uint64) uint64 {
	if int64(time.Since(g.base)) < g.recheck.Load() {
		return g.state.Add(n) - n
	}
	return g.takeAt(n)
}

// takeAt is take with a reading of the clock: if the clock's second is later than that of
// state, takeAt first raises state to it.
func (g *Generator) takeAt(n uint64) uint64 {
	// The monotonic reading comes first, so that recheck is never late.
	elapsed := time.Since(g.base)
	now := g.now()
	sec := second(now)
	// If the goroutine was paused between the two readings of the clocks, their difference is
	// not a jump.
	jumped := !g.given && time.Since(g.base)-elapsed < maxAge && g.reseeding.jumped(elapsed, now.Sub(g.base.Round(0)))
	switch {
	case g.resumed():
		g.settle() // before state is raised to this second, so that the next id need not have a later one
	case jumped:
		g.Reseed()
	}
	if g.reseeding.options.MaxLead > 0 {
		g.limitLead(sec)
	}
	if g.reseeding.shared {
		return g.takeShared(n, sec)
	}
	for {
		old := g.state.Load()
		first := old
		if old>>g.bits < sec {
			first = sec<<g.bits | old&g.counter | g.reset.Load()
		}
		g.checkLeft(first, n)
		if !g.state.CompareAndSwap(old, first+n) {
			continue
		}
		if !g.given && first>>g.bits < lastFree {
			left := time.Second - time.Duration(now.Nanosecond())
			g.recheck.Store(int64(elapsed + min(left, maxAge)))
		} else {
			g.recheck.Store(0)
		}
		return first
	}
}

// checkLeft panics unless n values are left, beginning with first. The very last value is
// never taken: its successor would be 0.
func (g *Generator) checkLeft(first, n uint64) {
	if end := uint64(math.MaxUint32)<<g.bits | uint64(g.mask); first > end || n > end-first {
		panic(ErrExhausted)
	}
}

// second returns the Unix second of t, or the nearest one that fits in an ID.
func second(t time.Time) uint64 {
	return uint64(min(max(t.Unix(), 0), math.MaxUint32))
}
