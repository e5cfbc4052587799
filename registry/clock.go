package registry

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/backoff"
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

func maxTime(all ...time.Time) time.Time { return slices.MaxFunc(all, time.Time.Compare) }

func minTime(all ...time.Time) time.Time { return slices.MinFunc(all, time.Time.Compare) }

// thisHost is what this process knows of its host.
var thisHost = sync.OnceValue(func() (h here) {
	h.self, _ = gpid.ProcessOf(os.Getpid()) // without it, states depend on heartbeats alone
	h.program, _ = h.self.Program()
	if link, err := os.Readlink("/proc/self/ns/net"); err == nil {
		number := strings.TrimSuffix(strings.TrimPrefix(link, "net:["), "]")
		h.network, _ = strconv.ParseUint(number, 10, 64)
	}
	return h
})

// phase returns the part of a period at which the process with a block acts. Blocks
// are random, so the actions of many processes are spread evenly, and they follow one
// another in the order of their keys, which costs a store much less than any other.
func phase(block string, period time.Duration) time.Duration {
	var b [4]byte
	_, _ = hex.Decode(b[:], []byte(block)) // all blocks are hexadecimal
	return time.Duration(float64(binary.BigEndian.Uint32(b[:])) / (1 << 32) * float64(period))
}

// maxJitter is the part of an interval by which the heartbeats of a process are late,
// at most, so that they are not at one moment with others.
const maxJitter = 40

func jitter(interval time.Duration) time.Duration { return backoff.Between(0, interval/maxJitter) }

// untilHeartbeat returns how long a process waits at a time for its next heartbeat:
// half an interval to one and a half.
func untilHeartbeat(block string, interval, late time.Duration, now time.Time) time.Duration {
	at := phase(block, interval) + late
	wait := now.Add(-at).Truncate(interval).Add(interval + at).Sub(now)
	if wait < interval/2 {
		wait += interval
	}
	return wait
}

// maxBackoff is the number of intervals between two attempts to write while the store
// does not answer, at most.
const maxBackoff = 8

// failing is when the next attempt to write follows one that failed: with the next
// heartbeat after the first, and then after twice as long each time.
type failing struct {
	pause backoff.Backoff
	until time.Time // zero if the last attempt did not fail
	err   error     // of the last attempt
}

// waits reports whether it is too early for an attempt at a time.
func (f *failing) waits(now time.Time) bool { return now.Before(f.until) }

// failed notes an attempt that failed.
func (f *failing) failed(err error, interval time.Duration, now time.Time) {
	f.err = err
	f.pause.First, f.pause.Max = interval, maxBackoff*interval
	f.until = now.Add(f.pause.Next() - interval/2) // heartbeats come at intervals
}

// hourOf returns the beginning of the hour of a process that t is in. The processes'
// hours do not begin at once: once in its hour each puts its samples in order.
func hourOf(block string, t time.Time) time.Time {
	at := phase(block, time.Hour)
	return t.Add(-at).Truncate(time.Hour).Add(at)
}
