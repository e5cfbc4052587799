package objectid

import (
	"sync/atomic"
	"time"
)

// datedValue is the process value and the counter of NewAt. Each call increments low, so ids of
// one second increase until low overflows.
type datedValue struct {
	block      uint32
	low        atomic.Uint32
	std        uint64 // the value of the default generator that block differs from
	generation uint64 // the generation of the virtual machine
}

var dated atomic.Pointer[datedValue]

// drawDated draws another process value for NewAt.
func drawDated() *datedValue {
	std.now() // panics if OID_VMCLOCK names a file that cannot be used, see initStd
	d := new(datedValue)
	if std.machine != nil {
		d.generation = std.machine.Load() // before the process value is drawn
	}
	d.std = std.value.Load()
	for d.block == 0 || d.block == uint32(d.std) {
		// words fails only for layouts that need the host.
		block, low, _, _ := Modern.words()
		d.block = block
		d.low.Store(low)
	}
	return d
}

// isCurrent reports whether, since d was drawn, the default generator was not reseeded, and the
// virtual machine was not started from a snapshot.
func (d *datedValue) isCurrent() bool {
	return d != nil && d.std == std.value.Load() && (std.machine == nil || std.machine.Load() == d.generation)
}

// NewAt returns a new ID for a document that was created at t. The ID has the second of t, or
// the nearest second that an ID can hold. The first 2^32 results differ from each other and
// from the ids of New. [Reseed] gives NewAt another process value, too.
func NewAt(t time.Time) ID {
	stdOnce.Do(initStd)
	for {
		d := dated.Load()
		if !d.isCurrent() {
			dated.CompareAndSwap(d, drawDated())
			continue
		}
		low := d.low.Add(1)
		if d.isCurrent() { // the id is none of a copy that was resumed meanwhile
			var id ID
			putWords(&id, second(t)<<32|uint64(d.block), low)
			return id
		}
	}
}
