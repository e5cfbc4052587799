package registry

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/gpid"
)

// clock returns the times of a process: those of the wall clock, but always later
// than the previous one, because the creation times of its ids do not go back either.
type clock struct {
	now  func() time.Time // nil stands for time.Now
	ago  time.Duration    // how long ago the present heartbeat was sent
	last time.Time
}

// stamp returns a time in whole milliseconds, the precision of BSON. ahead is by how
// much the last id leads the clock.
func (c *clock) stamp(ahead time.Duration) time.Time {
	t := c.wall().Add(ahead).Truncate(time.Millisecond)
	if !t.After(c.last) {
		t = c.last.Add(time.Millisecond)
	}
	c.last = t
	return t
}

// wall returns the wall clock when the present heartbeat was sent, in whole milliseconds.
func (c *clock) wall() time.Time { return wall(c.now).Add(-c.ago).UTC().Truncate(time.Millisecond) }

func wall(now func() time.Time) time.Time {
	if now == nil {
		return time.Now()
	}
	return now()
}

// here is what this process knows of its host.
type here struct {
	self    gpid.Process // this process; zero if not known
	program uint32       // see [gpid.Process.Program]
	network uint64       // number of the network namespace, or 0
}

// since returns how long ago the monotonic clock of this boot was at then; ok is
// false if boot is another one or the system has no such clock.
func (h here) since(boot string, then time.Duration) (d time.Duration, ok bool) {
	now := monotonic()
	if boot == "" || boot != h.self.Boot || then == 0 || now == 0 {
		return 0, false
	}
	return now - then, true
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// thisHost is what this process knows of its host.
var thisHost = sync.OnceValue(findHere)

// findHere asks the kernel for the identity of this process.
func findHere() here {
	var h here
	h.self, _ = gpid.Of(os.Getpid()) // without it, states depend on heartbeats alone
	h.program, _ = h.self.Program()
	if link, err := os.Readlink("/proc/self/ns/net"); err == nil {
		number := strings.TrimSuffix(strings.TrimPrefix(link, "net:["), "]")
		h.network, _ = strconv.ParseUint(number, 10, 64)
	}
	return h
}
