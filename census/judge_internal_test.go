package census

import "testing"

// TestSequences holds which counters begin a new sequence.
func TestSequences(t *testing.T) {
	for _, test := range []struct {
		name     string
		counters []uint32
		want     int // sequences
	}{
		{"an overtaken thread", []uint32{1 << 20, 1<<20 - 65535}, 1},
		{"another process", []uint32{1 << 20, 1<<20 - 65536}, 2},
		{"as many as are followed", []uint32{7 << 21, 6 << 21, 5 << 21, 4 << 21, 3 << 21, 2 << 21, 1 << 21, 0}, 8},
		{"one more", []uint32{7 << 21, 6 << 21, 5 << 21, 4 << 21, 3 << 21, 2 << 21, 1 << 21, 0, 1 << 20}, 8},
	} {
		var ss sequences
		for _, c := range test.counters {
			if got := ss.unwrap(c, 0); uint32(got&counterMask) != c {
				t.Errorf("%s: counter %d is unwrapped to %d", test.name, c, got)
			}
		}
		if len(ss.list) != test.want {
			t.Errorf("%s: %d sequences, want %d", test.name, len(ss.list), test.want)
		}
	}
}
