package registry_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A member looks for a resumed snapshot with each id: with the first id after one, it sends a
// heartbeat at once, and a copy gets a block of its own, however long the interval is.
func TestMemberAfterASnapshot(t *testing.T) {
	page := make([]byte, os.Getpagesize()) // what Firecracker and QEMU show as /dev/vmclock0
	binary.LittleEndian.PutUint32(page, 0x4b4c4356)
	binary.LittleEndian.PutUint32(page[4:], 4096)
	binary.LittleEndian.PutUint16(page[8:], 1)
	binary.LittleEndian.PutUint64(page[0x18:], 1<<8)
	device := filepath.Join(t.TempDir(), "vmclock0")
	if err := os.WriteFile(device, page, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OID_VMCLOCK", device)
	s := newStore(t)
	m := join(t, s, options{Interval: time.Hour})
	block, last := m.Process().Block, m.Process().Last.Time
	twin := m.Clone()
	defer finish(t, twin)
	for range 1000 {
		m.Generator().New()
	}
	time.Sleep(100 * time.Millisecond)
	if !m.Process().Last.Time.Equal(last) {
		t.Fatal("a heartbeat without a snapshot")
	}
	file, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte{1}, 0x68); err != nil {
		t.Fatal(err)
	}
	m.Generator().New() // the generator of both: Clone does not copy it
	eventually(t, "a heartbeat", func() bool { return m.Process().Last.Time.After(last) })
	twin.Reseed()
	eventually(t, "a block of its own, and a generator for it", func() bool {
		a, b := m.Generator().New(), twin.Generator().New()
		return twin.Process().Block != block && [4]byte(a[4:]) != [4]byte(b[4:])
	})
}
