package classic_test

import (
	"testing"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/objectid"
)

// The generator of the layout and this package agree about what the bytes mean.
func TestSplitIsWhatTheGeneratorWrites(t *testing.T) {
	const host, pid = "vm", 7814 // md5("vm") = 686c821a80914aef822465b48019cd34
	if got := classic.Machine(host); got != "686c82" {
		t.Errorf("machine of %s = %s, want 686c82", host, got)
	}
	id := objectid.MustParse("6592008" + "0" + classic.Value(host, pid) + "00002a")
	if machine, got := classic.Split(id); machine != "686c82" || got != pid {
		t.Errorf("%v: machine %s, pid %d, want 686c82, %d", id, machine, got, pid)
	}
}

func TestHasPID(t *testing.T) {
	for _, c := range []struct {
		value string
		pid   int
		want  bool
	}{
		{"686c821e86", 7814, true},
		{"686c821e86", 7815, false},
		{"686c821e86", 7814 + 65536, true}, // the layout keeps 16 bits
		{"686c820001", 65536, true},        // modulo 65535
		{"686c820002", 65536, false},       //
		{"686c82861e", 7814, true},         // the bytes in the other order
		{"686c820000", 65536, true},        // the low 16 bits
		{"686c820000", 1, false},           //
		{"000000ffff", 65535, true},        // the low 16 bits
		{"0000000000", 65535, true},        // modulo 65535
	} {
		id := objectid.MustParse("65920080" + c.value + "00002a")
		if got := classic.HasPID(id, c.pid); got != c.want {
			t.Errorf("HasPID(%v, %d) = %v, want %v", id, c.pid, got, c.want)
		}
	}
}
