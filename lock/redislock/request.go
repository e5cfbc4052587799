package redislock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/objectid"
)

// request is one wish to have a lock, and later the [lock.Keeper] of its lease.
type request struct {
	l     *Locker
	name  string
	keys  []string
	owner lock.Owner
	text  string // of the owner
}

func (l *Locker) newRequest(name string) (*request, error) {
	if err := lock.CheckName(name); err != nil {
		return nil, fmt.Errorf("redislock: %w", err)
	}
	owner := lock.Owner{Process: l.process, ID: objectid.New()}
	return &request{l, name, keys(name), owner, owner.String()}, nil
}

// answer is what Redis says to a request.
type answer struct {
	granted bool
	value   value
	sent    time.Time     // before the request was
	ttl     time.Duration // of the lock
}

// ask asks once for the lock, and for a place in line if queue is set.
func (r *request) ask(ctx context.Context, queue bool) (answer, error) {
	channel := ""
	if queue {
		channel = r.l.line.channel
	}
	a := answer{sent: time.Now()}
	reply, err := r.l.eval(ctx, acquireScript, r.keys, r.text, r.l.ttlText, r.l.seenText(), channel)
	if err != nil {
		return a, err
	}
	if len(reply) != 3 {
		return a, errNonce
	}
	granted, err1 := reply[0].AsInt64()
	text, err2 := reply[1].ToString()
	ttl, err3 := reply[2].AsInt64()
	if err := errors.Join(err1, err2, err3); err != nil {
		return a, err
	}
	if a.value, err = parseValue(text); err != nil {
		return a, err
	}
	r.l.see(a.value.fence)
	a.granted, a.ttl = granted == 1, time.Duration(ttl)*time.Millisecond
	return a, nil
}

// held returns the error that says who has the lock.
func (r *request) held(a answer) error {
	status, err := a.value.status(r.name, a.ttl)
	if err != nil {
		return fmt.Errorf("redislock: %q: %w", r.name, err)
	}
	return &lock.HeldError{Status: status}
}

// safe is until when a lease is safe that was asked for at sent and granted for
// a time d: a twentieth less than d, for clocks that run at different speeds and
// for the time that it takes a holder to stop.
func safe(sent time.Time, d time.Duration) time.Time { return sent.Add(d - d/20) }

// lease begins the lease of a lock that was granted.
func (r *request) lease(ctx context.Context, fence uint64, deadline time.Time) *lock.Lease {
	r.l.line.holds(r.text)
	return lock.NewLease(ctx, lock.Grant{
		Name: r.name, Owner: r.owner, Fence: fence, Deadline: deadline,
		Every: r.l.ttl / 3, Try: r.l.ttl / 6, Keeper: r,
	})
}

// Keep renews the lease.
func (r *request) Keep(ctx context.Context) (time.Time, error) {
	sent := time.Now()
	reply, err := r.l.eval(ctx, renewScript, r.keys, r.text, r.l.ttlText)
	if err != nil {
		return time.Time{}, fmt.Errorf("redislock: renew %q: %w", r.name, err)
	}
	if len(reply) != 1 {
		return time.Time{}, errNonce
	}
	if kept, err := reply[0].AsInt64(); err != nil || kept != 1 {
		return time.Time{}, fmt.Errorf("%w: %q: Redis has it for another or for nobody", lock.ErrLost, r.name)
	}
	return safe(sent, r.l.ttl), nil
}

// tries is how often a request is sent that nobody waits for.
const tries = 3

// Free gives the lock back.
func (r *request) Free() error {
	defer r.l.line.leave(r.text)
	if err := r.l.begin(); err != nil {
		return err
	}
	defer r.l.calls.Done()
	had, unsure, err := r.release(false)
	if err != nil {
		return fmt.Errorf("redislock: release %q: %w; it frees itself within %v", r.name, err, r.l.ttl)
	}
	if !had && !unsure { // unsure: a try whose reply was lost may have done it
		return fmt.Errorf("%w: %q: Redis had it for another or for nobody", lock.ErrLost, r.name)
	}
	return nil
}

// release takes r out of the line if it was queued, and gives the lock back. It
// reports whether r had the lock, and whether an earlier try may have worked.
func (r *request) release(queued bool) (had, unsure bool, err error) {
	channel := ""
	if queued {
		channel = r.l.line.channel
	}
	for i := range tries {
		if i > 0 {
			unsure = true
			time.Sleep(r.l.try / 10)
		}
		var reply []rueidis.RedisMessage
		reply, err = r.l.eval(context.Background(), releaseScript, r.keys, r.text, r.l.ttlText, r.l.seenText(), channel, r.l.deaf)
		if err == nil && len(reply) == 1 {
			n, err := reply[0].AsInt64()
			return n == 1, unsure, err
		}
		if permanent(err) {
			break
		}
	}
	return false, unsure, err
}

// giveUp takes back, in the background, whatever r has asked for. The caller's
// call is still counted in l.calls.
func (r *request) giveUp(queued bool) {
	r.l.line.leave(r.text)
	r.l.calls.Go(func() { _, _, _ = r.release(queued) })
}

// permanent reports whether the same request would get the same error again.
func permanent(err error) bool {
	if errors.Is(err, rueidis.ErrClosing) {
		return true
	}
	e, ok := rueidis.IsRedisErr(err)
	if !ok {
		return false // of the network
	}
	code, _, _ := strings.Cut(e.Error(), " ")
	switch code {
	case "LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS", "MOVED", "ASK":
		return false // a failover or a start, which ends
	}
	return true
}
