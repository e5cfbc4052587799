package redislock

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/lock"
)

// value is what the key of a lock holds while somebody has it: "fence owner".
type value struct {
	fence uint64
	owner string
}

func parseValue(s string) (value, error) {
	fence, owner, _ := strings.Cut(s, " ")
	f, err := strconv.ParseUint(fence, 10, 64)
	if err != nil || owner == "" || strings.Contains(owner, " ") {
		return value{}, fmt.Errorf("a lock has the value %.200q, want fence and owner", s)
	}
	return value{f, owner}, nil
}

func (v value) String() string { return strconv.FormatUint(v.fence, 10) + " " + v.owner }

// status returns what v tells of the lock called name. A fence is the time of the
// grant, or later where fences are ahead of the clock.
func (v value) status(name string, ttl time.Duration) (lock.Status, error) {
	owner, err := lock.ParseOwner(v.owner)
	if err != nil {
		return lock.Status{}, err
	}
	since := time.UnixMicro(int64(v.fence)).UTC()
	return lock.Status{Name: name, Held: true, Owner: owner, Fence: v.fence, Since: since, TTL: max(0, ttl)}, nil
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
func (l *Locker) seenText() string {
	if seen := l.seen.Load(); seen > 0 {
		return strconv.FormatUint(seen, 10)
	}
	return ""
}
