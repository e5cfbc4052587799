package objectid

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

// vmPage is struct vmclock_abi of the kernel's header uapi/linux/vmclock-abi.h.
type vmPage struct {
	Magic, Size         uint32
	Version             uint16
	CounterID, TimeType uint8
	Seq                 uint32
	Disruption, Flags   uint64
	Pad                 [2]uint8
	Status, Smearing    uint8
	TAI                 uint16
	Leap, Shift         uint8
	Counter             [4]uint64
	Time                [4]uint64
	Generation          uint64
}

// vmPageOf returns the page that Firecracker and QEMU show when a machine is started.
func vmPageOf() vmPage {
	return vmPage{Magic: 0x4b4c4356, Size: 4096, Version: 1, CounterID: 0xff, Flags: 1<<8 | 1<<9}
}

func (p vmPage) bytes() []byte {
	page, err := binary.Append(nil, binary.LittleEndian, p)
	if err != nil {
		panic(err)
	}
	return page
}

func TestVMClockPages(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *vmPage)
		want   string // of the error; empty: accepted
	}{
		{"as it is", func(*vmPage) {}, ""},
		{"more flags", func(p *vmPage) { p.Flags = ^uint64(0) }, ""},
		{"the smallest", func(p *vmPage) { p.Size = 112 }, ""},
		{"while it changes", func(p *vmPage) { p.Seq = 7 }, ""},
		{"zeros", func(p *vmPage) { *p = vmPage{} }, "not a vmclock device: magic 0x0, want 0x4b4c4356"},
		{"big-endian", func(p *vmPage) { p.Magic = 0x56434c4b }, "not a vmclock device: magic 0x56434c4b"},
		{"version 2", func(p *vmPage) { p.Version = 2 }, "vmclock version 2, want 1"},
		{"without the counter", func(p *vmPage) { p.Size = 104 }, "the hypervisor has no generation counter: size 104"},
		{"no flag", func(p *vmPage) { p.Flags = 1 << 9 }, "the hypervisor has no generation counter: size 4096, flags 0x200"},
		{"only the bit that the specification prints", func(p *vmPage) { p.Flags = 1 << 7 }, "no generation counter"},
	} {
		p := vmPageOf()
		c.change(&p)
		err := checkVMClock(p.bytes())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if len(vmPageOf().bytes()) != vmSize {
		t.Errorf("the structure has %d bytes, want %d", len(vmPageOf().bytes()), vmSize)
	}
}

// A page is accepted if the structure of the kernel's header, read from it, says so.
func FuzzVMClock(f *testing.F) {
	whole := vmPageOf().bytes()
	f.Add([]byte{})
	f.Add(whole)
	f.Add(append(whole, 0))
	f.Add(whole[:len(whole)-1])
	f.Fuzz(func(t *testing.T, page []byte) {
		var p vmPage
		want := binary.Read(bytes.NewReader(page), binary.LittleEndian, &p) == nil &&
			p.Magic == 0x4b4c4356 && p.Version == 1 && p.Size >= 112 && p.Flags>>8&1 == 1
		if err := checkVMClock(page); (err == nil) != want {
			t.Errorf("%x: %v, want accepted %v", page, err, want)
		}
	})
}

// zeros is a source of random bytes that gives all copies of a machine the same ones.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// The kernels of two copies can return the same random bytes at first. The copies still draw
// process values of their own.
func TestSameRandomBytesAfterASnapshot(t *testing.T) {
	random := rand.Reader
	t.Cleanup(func() { rand.Reader = random })
	for _, layout := range []Layout{Modern, Java} {
		g, err := NewGenerator(&Options{Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		g.New()
		rand.Reader = zeros{}
		seen := map[[4]byte]bool{}
		for range 20 {
			twin := copyOf(g)
			twin.Reseed()
			seen[[4]byte(twin.New().Bytes()[4:])] = true
			time.Sleep(time.Millisecond)
		}
		rand.Reader = random
		if len(seen) < 18 { // two of 2^16 can be equal
			t.Errorf("%v: 20 copies drew %d process values", layout, len(seen))
		}
	}
}
