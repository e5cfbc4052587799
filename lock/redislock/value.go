package redislock

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/lock"
)

// value is what the key of a lock holds: "fence since owner".
type value struct {
	fence uint64
	since time.Time
	owner string
}

func parseValue(s string) (value, error) {
	fence, rest, _ := strings.Cut(s, " ")
	since, owner, ok := strings.Cut(rest, " ")
	f, err1 := strconv.ParseUint(fence, 10, 64)
	micros, err2 := strconv.ParseInt(since, 10, 64)
	if !ok || err1 != nil || err2 != nil || owner == "" || strings.Contains(owner, " ") {
		return value{}, fmt.Errorf("a lock has the value %.200q, want fence, time and owner", s)
	}
	return value{f, time.UnixMicro(micros).UTC(), owner}, nil
}

// status returns what v tells of the lock called name.
func (v value) status(name string, ttl time.Duration) (lock.Status, error) {
	owner, err := lock.ParseOwner(v.owner)
	if err != nil {
		return lock.Status{}, err
	}
	return lock.Status{Name: name, Held: true, Owner: owner, Fence: v.fence, Since: v.since, TTL: max(0, ttl)}, nil
}

// see remembers the highest fence.
func (l *Locker) see(fence uint64) {
	for {
		seen := l.seen.Load()
		if fence <= seen || l.seen.CompareAndSwap(seen, fence) {
			return
		}
	}
}

// seenText is the highest fence as the scripts take it.
func (l *Locker) seenText() string { return strconv.FormatUint(l.seen.Load(), 10) }
