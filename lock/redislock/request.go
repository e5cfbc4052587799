package redislock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/lock/internal/holder"
)

// request is one acquisition, and later the [engine.Keeper] of its lease.
type request struct {
	calls.Call
	l      *Locker
	keys   []string
	ms     string // the TTL as the scripts take it
	text   string // of the owner
	ttl    time.Duration
	grant         // the fence is 0 until there is one
	ticket string // in the queue; it does not change

	wake   chan struct{}         // gets hints; nil until r may be in the queue
	later  *time.Timer           // a hint to come
	passed atomic.Pointer[grant] // by a release of this process
}

// grant is a lock that is given to an owner, or may be.
type grant struct {
	fence uint64
	sent  time.Time // the request that asked for it
}

func (l *Locker) newRequest(call calls.Call) *request {
	r := &request{Call: call, l: l, keys: keysOf(call.Name), text: l.owners + call.Owner.ID.String(), ttl: call.Options.TTL.Truncate(time.Millisecond)}
	r.ms = strconv.FormatInt(r.ttl.Milliseconds(), 10)
	return r
}

// try is the longest that one request may take.
func (r *request) try() time.Duration { return min(r.ttl/6, maxTry) }

// value returns the lock's value while r holds it.
func (r *request) value(g grant, h lock.Holder) string {
	b := r.appendLease(make([]byte, 0, 512), g.fence)
	b = strconv.AppendInt(append(b, version+" "...), g.sent.UnixMicro(), 10)
	return string(append(append(b, ' '), describe(h)...))
}

// appendLease appends what the lock's value begins with while r holds it.
func (r *request) appendLease(b []byte, fence uint64) []byte {
	b = append(strconv.AppendUint(b, fence, 10), ' ')
	return append(append(b, r.text...), ' ')
}

// queued reports whether r may be in the queue.
func (r *request) queued() bool { return r.wake != nil && r.fence == 0 }

// waiter returns r as the scripts name it in the queue.
func (r *request) waiter() string { return r.l.channel + " " + r.text }

// answer is what Redis says to a request.
type answer struct {
	granted bool
	grant                 // if granted
	wait    time.Duration // if not: ask again after that
	value   value         // and what the lock is now
}

// ask asks once for the lock, and queues r if it can get hints. It need not ask if the
// lock was just passed on to r.
func (r *request) ask(ctx context.Context) (a answer, err error) {
	if g := r.passed.Swap(nil); g != nil && time.Since(g.sent) < r.try() {
		return answer{granted: true, grant: *g}, nil
	}
	a.grant = grant{r.l.guess(), time.Now()}
	own := r.value(a.grant, holder.Self(r.Options))
	guess, _, _ := strings.Cut(own, " ")
	args := []string{"", own, r.ms, guess}
	if r.queued() {
		args = append(args, r.waiter(), r.ticket)
	}
	reply, err := r.l.eval(ctx, a.sent, r.try(), acquireScript(), r.keys, args)
	if err != nil {
		return a, err
	}
	fence, granted := strings.CutPrefix(reply, "granted ")
	if granted {
		a.fence, err = strconv.ParseUint(fence, 10, 64)
	}
	if a.granted = granted || reply == ""; a.granted {
		r.l.see(a.fence)
		return a, err
	}
	f := strings.SplitN(reply, " ", 4) // refused, wait, ticket, value
	if len(f) != 4 {
		return a, errNonce
	}
	ms, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return a, errNonce
	}
	a.wait = time.Duration(ms) * time.Millisecond
	if r.ticket == "" { // others read it once the request is in a queue
		r.ticket = f[2]
	}
	a.value, err = parseValue(f[3])
	r.l.see(a.value.fence)
	return a, err
}

// lease begins the lease of a lock that was granted.
func (r *request) lease(ctx context.Context, g grant) *lock.Lease {
	r.leave()
	r.grant = g
	return r.Lease(ctx, engine.Grant{
		Fence: g.fence, Deadline: engine.Deadline(g.sent, r.ttl), TTL: r.ttl, Keeper: r,
	})
}

// Keep renews the lease.
func (r *request) Keep() (time.Time, error) {
	sent := time.Now()
	return engine.Deadline(sent, r.ttl), r.change("renew", sent, renewScript(), r.keys, r.ms, "")
}

// SetGroup records the process group that the lock protects.
func (r *request) SetGroup(pgid int) error {
	h := holder.Self(r.Options)
	h.Group = pgid
	return r.change("renew", time.Now(), renewScript(), r.keys, r.ms, r.value(r.grant, h))
}

// SetNote replaces the note of the lock if the lease has it.
func (r *request) SetNote(text string, life time.Duration) error {
	return r.change("note of", time.Now(), noteScript(), noteKeys(r.Name), text, strconv.FormatInt(life.Milliseconds(), 10))
}

// change runs a script that changes something if the lease has the lock.
func (r *request) change(what string, now time.Time, s script, keys []string, args ...string) error {
	if err := r.l.calls.Begin(); err != nil {
		return err
	}
	defer r.l.calls.Done()
	args = append([]string{"", strconv.FormatUint(r.fence, 10) + " " + r.text}, args...)
	reply, err := r.l.eval(r.l.calls.Closing, now, r.try(), s, keys, args)
	if err != nil {
		return fmt.Errorf("redislock: %s %q: %w", what, r.Name, err)
	}
	if reply != "1" {
		return fmt.Errorf("%w: %q: in Redis it is free or has another holder", lock.ErrLost, r.Name)
	}
	return nil
}

// Free gives the lock back.
func (r *request) Free() error {
	if err := r.l.calls.Begin(); err != nil {
		return err
	}
	defer r.l.calls.Done()
	had, unsure, err := r.release(context.Background())
	if err != nil {
		return fmt.Errorf("redislock: release %q: %w; it frees itself within %v", r.Name, err, r.ttl)
	}
	if !had && !unsure { // unsure: an attempt whose reply was lost may have done it
		return fmt.Errorf("%w: %q: in Redis it was free or had another holder", lock.ErrLost, r.Name)
	}
	return nil
}

// release gives the lock back or leaves the queue. It reports whether r had the
// lock, and whether an earlier attempt may have worked. If the first in the queue is a
// waiter of this process, the lock is passed on to it. It does not try again after ctx has
// ended.
func (r *request) release(ctx context.Context) (had, unsure bool, err error) {
	lease := string(r.appendLease(make([]byte, 0, 128), r.fence))
	fence, _, _ := strings.Cut(lease, " ")
	args := []string{"", lease, fence, r.ms}
	next := r.l.queue.first(r.Name)
	var passed *grant // to next
	if r.queued() {
		args = append(args, r.waiter())
	} else if next != nil && r.fence > 0 {
		passed = &grant{r.fence + 1, time.Now()}
		args = append(args, "", next.waiter(), next.value(*passed, holder.Self(next.Options)), next.ms)
	}
	for i := range tries {
		if i > 0 {
			unsure = true
			time.Sleep(r.try() / 10)
		}
		var reply string
		reply, err = r.l.eval(context.Background(), time.Now(), r.try(), releaseScript(), r.keys, args)
		if err == nil {
			if reply == "passed" {
				r.l.see(passed.fence)
				next.passed.Store(passed)
				next.hint()
			}
			return reply != "0", unsure, nil
		}
		if permanent(err) || ctx.Err() != nil {
			break
		}
	}
	if next != nil {
		next.hint() // it may have the lock
	}
	return false, unsure, err
}

// giveUp takes back, in the background, everything that r has asked for. The
// caller's call is still counted in l.calls. A Locker that is closed waits for one try: what
// it has left in a queue is skipped, as that of a waiter that died.
func (r *request) giveUp() {
	r.leave()
	r.l.calls.Go(func() { _, _, _ = r.release(r.l.calls.Closing) })
}

// leave ends the hints for r and the watch of its lock.
func (r *request) leave() {
	if r.wake != nil {
		r.l.queue.leave(r)
	}
}
