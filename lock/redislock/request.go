package redislock

import (
	"context"
	"errors"
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

// request is one call of Acquire or TryAcquire, and then the [engine.Keeper] of its lease.
type request struct {
	calls.Call
	l      *Locker
	keys   []string
	ms     string // the TTL in milliseconds
	text   string // the owner as text
	ttl    time.Duration
	grant         // the fence is 0 before the lock is granted
	ticket string // position in the queue, set once; "" before

	wake    chan struct{}         // receives hints; nil before r waits
	joined  bool                  // r may be in the queue
	settled chan struct{}         // closed after the release that may give the lock to r, a local waiter
	later   *time.Timer           // of hintLater
	passed  atomic.Pointer[grant] // set if a release of this process has given the lock to r
}

// grant says with which fence, and since when, an owner has the lock.
type grant struct {
	fence uint64
	sent  time.Time // when the request for it was sent
}

func (l *Locker) newRequest(call calls.Call) *request {
	r := &request{Call: call, l: l, keys: l.keysOf(call.Name), text: l.owners + call.Owner.ID.String(), ttl: call.Options.TTL.Truncate(time.Millisecond)}
	r.ms = strconv.FormatInt(r.ttl.Milliseconds(), 10)
	return r
}

// try is the longest time that one request may take.
func (r *request) try() time.Duration { return min(r.ttl/6, maxTry) }

// value returns the value of the lock's key while r holds the lock.
func (r *request) value(g grant, h lock.Holder) string {
	b := r.appendLease(make([]byte, 0, 512), g.fence)
	b = strconv.AppendInt(append(b, version+" "...), g.sent.UnixMicro(), 10)
	return string(append(append(b, ' '), describe(h)...))
}

// appendLease appends the beginning of that value: the fence and the owner.
func (r *request) appendLease(b []byte, fence uint64) []byte {
	b = append(strconv.AppendUint(b, fence, 10), ' ')
	return append(append(b, r.text...), ' ')
}

// queued reports whether r may be in the queue.
func (r *request) queued() bool { return r.joined && r.fence == 0 }

// waiter returns the member that stands for r in the queue.
func (r *request) waiter() string { return r.l.channel + " " + r.text }

// answer is the reply to a request for the lock.
type answer struct {
	granted bool
	grant                 // if granted
	wait    time.Duration // if refused: ask again after that
	value   value         // if refused: the value of the lock
}

// ask asks once for the lock. It queues r if r can get hints. If a release of this process
// has just given the lock to r, it does not ask Redis.
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
	reply = r.l.hintAll(reply)
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
	if r.ticket == "" { // set once, because other goroutines read it later
		r.ticket = f[2]
	}
	a.value, err = parseValue(f[3])
	r.l.see(a.value.fence)
	return a, err
}

// lease begins the lease of the lock that was granted.
func (r *request) lease(ctx context.Context, g grant) *lock.Lease {
	r.leave()
	r.grant = g
	r.l.queue.hold(r)
	return r.Lease(ctx, engine.Grant{
		Fence: g.fence, Deadline: engine.Deadline(g.sent, r.ttl), TTL: r.ttl, Keeper: r,
	})
}

// Keep renews the lease.
func (r *request) Keep() (time.Time, error) {
	sent := time.Now()
	deadline, err := engine.Deadline(sent, r.ttl), r.change("renew", sent, renewScript(), r.keys, r.ms, "")
	if lost := errors.Is(err, lock.ErrLost); err == nil || lost {
		r.l.queue.kept(r, deadline, lost)
	}
	return deadline, err
}

// SetGroup records the process group that the lock protects.
func (r *request) SetGroup(pgid int) error {
	h := holder.Self(r.Options)
	h.Group = pgid
	return r.change("renew", time.Now(), renewScript(), r.keys, r.ms, r.value(r.grant, h))
}

// SetNote replaces the note of the lock.
func (r *request) SetNote(text string, life time.Duration) error {
	return r.change("note of", time.Now(), noteScript(), r.l.noteKeys(r.Name), text, strconv.FormatInt(life.Milliseconds(), 10))
}

// change runs a script that changes something in Redis if the lease still has the lock. what
// names the change in errors.
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
		return r.lost()
	}
	return nil
}

// Free releases the lock.
func (r *request) Free() error {
	if err := r.l.calls.Begin(); err != nil {
		return err
	}
	defer r.l.calls.Done()
	had, unsure, err := r.release(context.Background())
	if err != nil {
		return fmt.Errorf("redislock: release %q: %w; the lock expires within %v", r.Name, err, r.ttl)
	}
	if !had && !unsure { // unsure: an attempt whose reply was lost may have released it
		return r.lost()
	}
	return nil
}

// release releases the lock, or leaves the queue if r only waits. If the first waiter is in
// this process, release gives it the lock. It returns whether r had the lock, and whether an
// earlier attempt, whose reply was lost, may have succeeded. After an error it tries again
// unless ctx has ended.
func (r *request) release(ctx context.Context) (had, unsure bool, err error) {
	lease := string(r.appendLease(make([]byte, 0, 128), r.fence))
	fence, _, _ := strings.Cut(lease, " ")
	args := []string{"", lease, fence, r.ms}
	next := r.l.queue.first(r.Name)
	local := false // next waits in this process only
	if r.fence > 0 && next == nil {
		next = r.l.queue.heir(r)
		if local = next != nil; local {
			defer close(next.settled)
		}
	}
	r.l.queue.resign(r)
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
			reply = r.l.hintAll(reply)
			if reply == "passed" {
				r.l.see(passed.fence)
				next.passed.Store(passed)
			}
			if passed != nil && (local || unsure || reply == "passed") {
				next.hint()
			}
			return reply != "0", unsure, nil
		}
		if permanent(err) || ctx.Err() != nil {
			break
		}
	}
	if next != nil {
		next.hint() // the release may have given it the lock
	}
	return false, unsure, err
}

// giveUp releases, in the background, whatever r has got, and leaves the queue. The call of r
// must still be counted in l.calls. After Close it makes only one attempt: a waiter that
// stays in the queue is skipped like a dead one.
func (r *request) giveUp() {
	r.leave()
	settled := r.l.queue.resign(r)
	r.l.calls.Go(func() {
		if settled != nil {
			<-settled
		}
		_, _, _ = r.release(r.l.calls.Closing)
	})
}

// leave stops the hints for r.
func (r *request) leave() {
	if r.joined {
		r.l.queue.leave(r)
	}
}

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
	if err = r.Free(); errors.Is(err, lock.ErrLost) { // and nobody has broken it, whatever the mark says
		err = fmt.Errorf("%w: %q has just been released", lock.ErrLost, name)
	}
	return err
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
