package registry

import (
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
)

// TestSuccessorAtLoopback: two processes at one loopback or unspecified address are runs of the same
// service only in the same network namespace; other addresses belong to one host
// whatever the namespaces.
func TestSuccessorAtLoopback(t *testing.T) {
	for _, test := range []struct {
		addr     string
		networks [2]uint64
		want     bool
	}{
		{"127.0.0.1", [2]uint64{1, 1}, true},
		{"127.0.0.1", [2]uint64{1, 2}, false},
		{"0.0.0.0", [2]uint64{1, 1}, true},
		{"0.0.0.0", [2]uint64{1, 2}, false},
		{"10.0.0.1", [2]uint64{1, 2}, true},
	} {
		run := func(start string, network uint64) *Process {
			p := &Process{GPID: gpid.MustParse(test.addr + ":8080:" + start)}
			p.Kernel.Boot, p.Network = "boot", network
			return p
		}
		p, q := run("1700000000000000:10", test.networks[0]), run("1700000100000000:11", test.networks[1])
		p.Kernel.Ticks, q.Kernel.Ticks = 100, 200
		p.Last.Monotonic, q.Registered = time.Minute, 2*time.Minute
		if got := successor(p, q); got != test.want {
			t.Errorf("%+v: successor %v", test, got)
		}
	}
}
