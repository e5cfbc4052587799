package idset

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// Segments do not overlap, and all of a piece lies in memory for which large pages were
// asked for.
func TestSlab(t *testing.T) {
	const n = 1 << smallSegments
	var s slab
	seen := map[uintptr]bool{}
	for i := range 2 * slabSize / RecordSize / n {
		segment := s.segment(n)
		if len(segment) != 0 || cap(segment) != n {
			t.Fatalf("segment %d: length %d, capacity %d", i, len(segment), cap(segment))
		}
		from := uintptr(unsafe.Pointer(unsafe.SliceData(segment)))
		if seen[from] || i == 0 && from%largePage != 0 {
			t.Fatalf("segment %d begins at %#x", i, from)
		}
		seen[from] = true
		if i > 0 {
			continue
		}
		if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
			t.Log("this system has no large pages")
		} else if flags := flagsOfMemory(t, from); !strings.Contains(flags, " hg") {
			t.Errorf("large pages were not asked for: %s", flags)
		}
	}
}

// flagsOfMemory returns what /proc/self/smaps says of an address.
func flagsOfMemory(t *testing.T, address uintptr) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	in := false
	for line := range strings.Lines(string(text)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			in = from <= address && address < to
		}
		if in && strings.HasPrefix(line, "VmFlags:") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
