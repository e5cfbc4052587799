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

// clock returns the times of a process. They follow the wall clock but always increase,
// because the creation times of its ids do not decrease either.
type clock struct {
	now  func() time.Time // nil stands for time.Now
	ago  time.Duration    // how long ago the present heartbeat was sent
	last time.Time
}

// stamp returns the next time, in whole milliseconds as BSON stores times. ahead is by how
// much the latest id leads the wall clock.
func (c *clock) stamp(ahead time.Duration) time.Time {
	t := c.wall().Add(ahead).Truncate(time.Millisecond)
	if !t.After(c.last) {
		t = c.last.Add(time.Millisecond)
	}
	c.last = t
	return t
}

// wall returns what the wall clock showed when the present heartbeat was sent.
func (c *clock) wall() time.Time { return wall(c.now).Add(-c.ago).UTC().Truncate(time.Millisecond) }

func wall(now func() time.Time) time.Time {
	if now == nil {
		return time.Now()
	}
	return now()
}

// here is what this process knows about itself and its host.
type here struct {
	self    gpid.Process // this process; zero if not known
	program uint32       // see [gpid.Process.Program]
	network uint64       // number of the network namespace, or 0
}

// since returns the time that has passed since the monotonic clock of a boot showed then.
// ok is false if the boot is not the present one, or if the system has no such clock.
func (h here) since(boot string, then time.Duration) (d time.Duration, ok bool) {
	now := monotonic()
	if boot == "" || boot != h.self.Boot || then == 0 || now == 0 {
		return 0, false
	}
	return now - then, true
}

func maxTime(all ...time.Time) time.Time { return slices.MaxFunc(all, time.Time.Compare) }

func minTime(all ...time.Time) time.Time { return slices.MinFunc(all, time.Time.Compare) }

var thisHost = sync.OnceValue(func() (h here) {
	h.self, _ = gpid.ProcessOf(os.Getpid()) // without it, states depend on heartbeats alone
	h.program, _ = h.self.Program()
	if link, err := os.Readlink("/proc/self/ns/net"); err == nil {
		number := strings.TrimSuffix(strings.TrimPrefix(link, "net:["), "]")
		h.network, _ = strconv.ParseUint(number, 10, 64)
	}
	return h
})

// phase returns the offset in each period at which the process with the block acts. Blocks
// are random, so processes act evenly spread over the period. They act in the order of
// their keys, which costs a store much less than random order.
func phase(block string, period time.Duration) time.Duration {
	var b [4]byte
	_, _ = hex.Decode(b[:], []byte(block)) // all blocks are hexadecimal
	return time.Duration(float64(binary.BigEndian.Uint32(b[:])) / (1 << 32) * float64(period))
}

// maxJitter is the fraction of an interval, one 40th, by which the heartbeats of a process
// are delayed at most. Different processes have different delays.
const maxJitter = 40

func jitter(interval time.Duration) time.Duration { return backoff.Between(0, interval/maxJitter) }

// untilHeartbeat returns how long after now a process sends its next heartbeat: between
// half an interval and one and a half.
func untilHeartbeat(block string, interval, late time.Duration, now time.Time) time.Duration {
	at := phase(block, interval) + late
	wait := now.Add(-at).Truncate(interval).Add(interval + at).Sub(now)
	if wait < interval/2 {
		wait += interval
	}
	return wait
}

// maxBackoff is the largest number of intervals between two attempts to write while the
// store does not answer.
const maxBackoff = 8

// failing decides when to try again after a write has failed. The first retry comes with
// the next heartbeat, and each later one after twice the time.
type failing struct {
	pause backoff.Backoff
	until time.Time // zero if the last attempt did not fail
	err   error     // of the last attempt
}

// waits reports whether now is too early for another attempt.
func (f *failing) waits(now time.Time) bool { return now.Before(f.until) }

// failed notes that an attempt has failed.
func (f *failing) failed(err error, interval time.Duration, now time.Time) {
	f.err = err
	f.pause.First, f.pause.Max = interval, maxBackoff*interval
	f.until = now.Add(f.pause.Next() - interval/2) // heartbeats come at intervals
}

// hourOf returns when the hour that contains t begins for a process. Once in its hour, each
// process joins and deletes samples. Hours begin at different times for different blocks,
// which spreads that work.
func hourOf(block string, t time.Time) time.Time {
	at := phase(block, time.Hour)
	return t.Add(-at).Truncate(time.Hour).Add(at)
}
