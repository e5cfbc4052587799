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

	// maxSlew is how much further the wall clock may advance than the monotonic clock before
	// that counts as a jump. jumped adds what slewing, the gradual correction of a clock,
	// can do in the time since the last reading.
	maxSlew = time.Second
)

// reseeding is the state that a generator needs to change its process value.
type reseeding struct {
	options Options
	shared  bool       // the counter is that of all Classic generators
	mu      sync.Mutex // held while the value changes

	resuming sync.Mutex // held while the value changes after a snapshot

	// drift is how much further the wall clock has advanced than the monotonic clock since
	// the generator was created. checked is the monotonic time at which drift was read.
	drift, checked atomic.Int64
}

// settled reports whether Generator.value, read before and after state was taken, did not
// change in between.
func settled(before, after uint64) bool { return before == after && before&changing == 0 }

// jumped reports whether the wall clock has jumped forward against the monotonic clock
// since the last call: the machine was suspended, or it is a copy that was resumed later,
// or the clock was set. monotonic and wall are the times since the generator was created,
// by each clock.
func (r *reseeding) jumped(monotonic, wall time.Duration) bool {
	drift := int64(wall - monotonic)
	before := r.drift.Swap(drift)
	passed := int64(monotonic) - r.checked.Swap(int64(monotonic))
	return drift-before > int64(maxSlew)+max(passed, 0)/1000
}

// Reseed gives g a new process value. The next id has a later second, so ids still increase.
// It returns false and changes nothing if the Layout is Classic, if Block is set but NewBlock
// is not, or if NewBlock returns false.
//
// Call it in each copy of a running virtual machine before the copy generates ids. The package
// comment says where g calls Reseed itself. Unless [Options].Now is set, g also calls it within
// 100 ms after the wall clock jumped forward, as after a suspension.
func (g *Generator) Reseed() bool {
	return g.change(func(old uint64) uint64 {
		return max(old>>g.bits+1, second(g.now()))
	})
}

// Reseed calls [Generator.Reseed] of the default generator.
func Reseed() {
	stdOnce.Do(initStd)
	std.Reseed()
}

// limitLead changes the process value if ids are ahead of the clock, whose second is sec, by
// more than Options.MaxLead.
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

// change draws a new process value and sets state to the second that next returns for the
// current state. It returns false if that second is after 2106, or if there is no other
// process value.
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

// classicCounter is the next counter of all Classic generators of this process. They share
// it because they have the same host and pid.
var classicCounter struct {
	sync.Mutex
	next  uint32
	drawn bool
}

// drawClassicCounter makes low the first counter of Classic ids. Only the first call counts.
func drawClassicCounter(low uint32) {
	c := &classicCounter
	c.Lock()
	defer c.Unlock()
	if !c.drawn {
		c.next, c.drawn = low, true
	}
}

// takeShared takes n values whose counters no other Classic generator of the process takes,
// as long as all of them together create fewer than 2^24 ids in a second.
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
