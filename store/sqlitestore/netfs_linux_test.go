package sqlitestore

import (
	"syscall"
	"testing"
)

// TestNetworkFS: local file systems are recognized as local, and network file systems by their
// numbers.
func TestNetworkFS(t *testing.T) {
	for _, folder := range []string{t.TempDir(), "/proc", "/dev"} {
		if name := networkFS(folder); name != "" {
			t.Errorf("%s is on %s", folder, name)
		}
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs("/proc", &st); err != nil {
		t.Fatal(err)
	}
	networkNames[uint32(st.Type)] = "a test"
	defer delete(networkNames, uint32(st.Type))
	if name := networkFS("/proc"); name != "a test" {
		t.Errorf("/proc is on %q, want the name of its number", name)
	}
	for number, want := range map[uint32]string{0x6969: "NFS", 0xFF534D42: "CIFS", 0x01021997: "9P"} {
		if name := networkNames[number]; name != want {
			t.Errorf("number %x is %q, want %s", number, name, want)
		}
	}
}
