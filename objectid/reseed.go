package objectid

import (
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// changing is the bit of Generator.value that is set while the value changes, and
	// changes is added for each change.
	changing = 1 << 32
	changes  = 2 * changing

	// maxSlew is by how much more the wall clock may advance than the monotonic one
	// before that counts as a jump: what correcting a clock gradually can do in the
	// time since the last reading, and a second.
	maxSlew = time.Second
)

// reseeding is what a generator needs to change its process value.
type reseeding struct {
	options Options
	shared  bool       // the counter is that of all Classic generators
	mu      sync.Mutex // held while the value changes

	// drift is by how much the wall clock has advanced more than the monotonic one
	// since the generator was created, and checked when that was read.
	drift, checked atomic.Int64
}

// settled reports whether a value that was read before and after something did not change
// meanwhile.
func settled(before, after uint64) bool { return before == after && before&changing == 0 }

// wait returns when the value does not change any more.
func (r *reseeding) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
}

// jumped reports whether the wall clock has jumped forward against the monotonic one
// since the last call: the machine was suspended, or is a copy that was resumed later,
// or the clock was set. Both are times since the generator was created.
func (r *reseeding) jumped(monotonic, wall time.Duration) bool {
	drift := int64(wall - monotonic)
	before := r.drift.Swap(drift)
	passed := int64(monotonic) - r.checked.Swap(int64(monotonic))
	return drift-before > int64(maxSlew)+max(passed, 0)/1000
}

// Reseed makes g continue with a new process value and in a later second; ids still
// increase. It returns false, and changes nothing, if there is no other value: with the
// Classic layout, or with Block without NewBlock.
//
// Call it in each copy of a running machine, before the copy generates ids. Unless Now is
// set, g also calls it within 100 ms after the wall clock jumped forward, as after a
// suspension.
func (g *Generator) Reseed() bool {
	return g.change(func(old uint64) uint64 {
		return max(old>>g.bits+1, second(g.now()))
	})
}

// Reseed is [Generator.Reseed] of the default generator.
func Reseed() {
	stdOnce.Do(initStd)
	std.Reseed()
}

// limitLead changes the process value if ids lead the second sec of the clock by more
// than Options.MaxLead.
func (g *Generator) limitLead(sec uint64) {
	most := uint64(g.reseeding.options.MaxLead / time.Second)
	if g.state.Load()>>g.bits <= sec+most {
		return
	}
	g.change(func(old uint64) uint64 {
		if old>>g.bits <= sec+most {
			return math.MaxUint64 // another goroutine has done it
		}
		return sec
	})
}

// change draws a new process value and continues at the second that next returns for
// the state that was reached, unless that second does not exist.
func (g *Generator) change(next func(state uint64) (second uint64)) bool {
	r := &g.reseeding
	r.mu.Lock()
	defer r.mu.Unlock()
	if next(g.state.Load()) > math.MaxUint32 {
		return false
	}
	block, low, ok := r.draw()
	if !ok {
		return false
	}
	value := g.value.Load()
	g.value.Store(value | changing)
	for old := g.state.Load(); ; old = g.state.Load() {
		sec := min(next(old), math.MaxUint32)
		if g.state.CompareAndSwap(old, sec<<g.bits|uint64(low&g.mask)) {
			break
		}
	}
	g.reset.Store(uint64(low) &^ g.counter)
	g.value.Store((value&^math.MaxUint32 + changes) | uint64(block))
	return true
}

// draw returns another block and low word.
func (r *reseeding) draw() (block, low uint32, ok bool) {
	if r.options.Layout == Classic || r.options.Block != nil && r.options.NewBlock == nil {
		return 0, 0, false
	}
	block, low, counter, err := r.options.Layout.words()
	if r.options.NewBlock == nil || err != nil {
		return block, low, err == nil
	}
	given, ok := r.options.NewBlock()
	return binary.BigEndian.Uint32(given[:]), low & counter, ok
}

// classicCounter is the next counter of all Classic generators of the process, which
// have the same host and pid.
var classicCounter struct {
	sync.Mutex
	next  uint32
	drawn bool
}

// drawClassicCounter sets where the counter starts, once in the process.
func drawClassicCounter(low uint32) {
	c := &classicCounter
	c.Lock()
	defer c.Unlock()
	if !c.drawn {
		c.next, c.drawn = low, true
	}
}

// takeShared takes n values with counters that no other Classic generator of the
// process has, as long as they all create fewer than 2^24 ids in a second.
func (g *Generator) takeShared(n, sec uint64) uint64 {
	c := &classicCounter
	c.Lock()
	defer c.Unlock()
	old := g.state.Load()
	first := max(old>>g.bits, sec)<<g.bits | uint64(c.next)
	if first < old {
		first += 1 << g.bits // the counter has overflowed in this second
	}
	g.checkLeft(first, n)
	g.state.Store(first + n)
	c.next = uint32((first + n) & g.counter)
	return first
}
