package redislock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
)

// standIn returns a request that acts for the lease of another process.
func (l *Locker) standIn(name string, owner lock.Owner, fence uint64, ttl time.Duration) *request {
	r := l.newRequest(calls.Call{Name: name, Owner: owner, Options: lock.AcquireOptions{TTL: ttl}})
	r.text, r.fence = owner.String(), fence
	return r
}

// brokenKeys returns the keys of the lock and of the mark of the lease that was broken last.
func (r *request) brokenKeys() []string { return []string{r.keys[0], r.keys[0] + ":broken"} }

// breakLease frees a lock if owner holds it.
func (l *Locker) breakLease(ctx context.Context, name string, owner lock.Owner, who string) error {
	s, err := l.status(ctx, name)
	if err != nil {
		return err
	}
	// If another owner holds the lock, neither script below finds this lease. The mark comes
	// first, because the holder may look for it as soon as the lock is free.
	r := l.standIn(name, owner, s.Fence, lock.DefaultTTL)
	mark, life := string(r.appendLease(nil, r.fence))+who, strconv.FormatInt(lock.MaxTTL.Milliseconds(), 10)
	if err := r.change("break", time.Now(), noteScript(), r.brokenKeys(), mark, life); err != nil {
		return err
	}
	return r.Free()
}

// lost returns the error of a lease that does not have the lock any more. The error says who
// broke the lock, if somebody did.
func (r *request) lost() error {
	reply, _ := r.l.eval(r.l.calls.Closing, time.Now(), r.try(), noteScript(), r.brokenKeys(), []string{""})
	_, mark, _ := strings.Cut(reply, " ")
	if who, broken := strings.CutPrefix(mark, string(r.appendLease(nil, r.fence))); broken {
		return fmt.Errorf("%w: %q: it was broken by %s", lock.ErrLost, r.Name, who)
	}
	return fmt.Errorf("%w: %q: in Redis it is free or has another holder", lock.ErrLost, r.Name)
}
