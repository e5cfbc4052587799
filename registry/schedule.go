package registry

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"time"
)

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

func jitter(interval time.Duration) time.Duration { return rand.N(interval/maxJitter + 1) }

// untilHeartbeat returns how long a process waits at a time for its next heartbeat:
// half an interval to one and a half.
func untilHeartbeat(block string, interval, jitter time.Duration, now time.Time) time.Duration {
	at := phase(block, interval) + jitter
	wait := now.Add(-at).Truncate(interval).Add(interval + at).Sub(now)
	if wait < interval/2 {
		wait += interval
	}
	return wait
}

// maxBackoff is the number of intervals between two attempts to write while the store
// does not answer, at most.
const maxBackoff = 8

// backoff is when the next attempt to write follows one that failed: with the next
// heartbeat after the first, and then after twice as long each time.
type backoff struct {
	failures int
	until    time.Time
	err      error // of the last attempt
}

// waits reports whether it is too early for an attempt at a time.
func (b *backoff) waits(now time.Time) bool { return b.failures > 0 && now.Before(b.until) }

// tried notes the result of an attempt.
func (b *backoff) tried(err error, interval time.Duration, now time.Time) {
	if err == nil {
		*b = backoff{}
		return
	}
	b.err = err
	wait := time.Duration(min(1<<b.failures, maxBackoff)) * interval
	b.failures = min(b.failures+1, 10)
	// A random part spreads those that failed together; heartbeats come at intervals.
	b.until = now.Add(wait/2 + rand.N(wait/2) - interval/2)
}

// hourOf returns the beginning of the hour of a process that t is in. The processes'
// hours do not begin at once: once in its hour each puts its samples in order.
func hourOf(block string, t time.Time) time.Time {
	at := phase(block, time.Hour)
	return t.Add(-at).Truncate(time.Hour).Add(at)
}
