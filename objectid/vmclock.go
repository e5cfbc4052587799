package objectid

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A hypervisor that starts a virtual machine from a snapshot changes the generation counter in
// a page of the machine's memory. Linux shows this page as the device /dev/vmclock0. Its layout
// is struct vmclock_abi of the kernel's header uapi/linux/vmclock-abi.h, little-endian:
//
//	offset  bytes
//	0x00    4      magic
//	0x04    4      size of the structure
//	0x08    2      version
//	0x18    8      flags
//	0x68    8      generation counter, if vmHasGeneration is set in flags
//
// The published specification, UAPI.13, prints bit 7 and offset 0x64. In the header bit 7 has
// another meaning, and a field of 8 bytes begins at 0x60.
const (
	vmDevice        = "/dev/vmclock0"
	vmMagic         = 0x4b4c4356 // "VCLK"
	vmVersion       = 1
	vmHasGeneration = 1 << 8
	vmGeneration    = 0x68
	vmSize          = vmGeneration + 8
)

// vmClocks has the generation counter of each file that was opened, by name. Mappings are never
// removed, so generators share them.
var vmClocks sync.Map

// vmClock returns the generation counter of the virtual machine, or nil if there is none. The
// environment variable OID_VMCLOCK names another file, or is empty to use none. That the device
// cannot be used is an error only if the variable names it.
func vmClock() (*atomic.Uint64, error) {
	name, named := os.LookupEnv("OID_VMCLOCK")
	if !named {
		name = vmDevice
	}
	if name == "" {
		return nil, nil
	}
	if clock, ok := vmClocks.Load(name); ok {
		return clock.(*atomic.Uint64), nil
	}
	page, err := mapVMClock(name)
	switch {
	case err != nil && named:
		return nil, fmt.Errorf("objectid: OID_VMCLOCK: %s: %w", name, err)
	case err != nil:
		return nil, nil
	}
	clock, _ := vmClocks.LoadOrStore(name, (*atomic.Uint64)(unsafe.Pointer(&page[vmGeneration])))
	return clock.(*atomic.Uint64), nil
}

// checkVMClock returns an error unless page begins as a page with a generation counter does.
func checkVMClock(page []byte) error {
	if len(page) < vmSize {
		return fmt.Errorf("%d bytes, want at least %d", len(page), vmSize)
	}
	little := binary.LittleEndian
	magic, size, version, flags := little.Uint32(page), little.Uint32(page[4:]), little.Uint16(page[8:]), little.Uint64(page[0x18:])
	switch {
	case magic != vmMagic:
		return fmt.Errorf("not a vmclock device: magic %#x, want %#x", magic, vmMagic)
	case version != vmVersion:
		return fmt.Errorf("vmclock version %d, want %d", version, vmVersion)
	case size < vmSize || flags&vmHasGeneration == 0:
		return fmt.Errorf("the hypervisor has no generation counter: size %d, flags %#x", size, flags)
	}
	return nil
}

// resumed reports whether the virtual machine was started from a snapshot after the process
// value was drawn.
func (g *Generator) resumed() bool {
	return g.machine != nil && g.machine.Load() != g.generation.Load()
}

// settle returns when the process value can be used: it draws another one if the virtual
// machine was resumed, and waits for other changes.
func (g *Generator) settle() {
	r := &g.reseeding
	r.resuming.Lock()
	defer r.resuming.Unlock()
	if g.resumed() {
		generation := g.machine.Load()
		g.Reseed() // without another process value, ids go on with this one
		g.generation.Store(generation)
	}
	r.mu.Lock() // until another change is done
	defer r.mu.Unlock()
}
