package registry

import (
	"time"

	"github.com/oidkit/oid/gpid"
)

// clock gives a member's times: the wall clock's, but always later than the one
// before, since the ids of the member do not go back either.
type clock struct {
	now  func() time.Time // nil stands for time.Now
	last time.Time
}

// stamp returns a time in whole milliseconds, as stores keep them. ahead is by
// how much the last id leads the clock.
func (c *clock) stamp(ahead time.Duration) time.Time {
	t := wall(c.now).Add(ahead).UTC().Truncate(time.Millisecond)
	if !t.After(c.last) {
		t = c.last.Add(time.Millisecond)
	}
	c.last = t
	return t
}

func wall(now func() time.Time) time.Time {
	if now == nil {
		return time.Now()
	}
	return now()
}

// here is where the running process is, as far as it can tell.
type here struct {
	self    gpid.Process // zero if not known
	network uint64       // number of the network namespace, or 0
}

// since returns how long ago a process of the same boot had the monotonic
// reading then; ok is false if boot is another one or there is no such clock.
func (h here) since(boot string, then time.Duration) (d time.Duration, ok bool) {
	now := monotonic()
	if boot == "" || boot != h.self.Boot || then == 0 || now == 0 {
		return 0, false
	}
	return now - then, true
}
