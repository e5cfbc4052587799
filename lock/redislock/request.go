package redislock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/objectid"
)

// request is one wish to have a lock, and later the [lock.Keeper] of its lease.
type request struct {
	l     *Locker
	name  string
	keys  []string
	owner lock.Owner
	text  string // of the owner
	fence uint64 // of the lease; 0 before

	// joined is set before r may stand in line: from then on messages may come.
	joined bool
}

func (l *Locker) newRequest(name string) (*request, error) {
	if err := lock.CheckName(name); err != nil {
		return nil, fmt.Errorf("redislock: %w", err)
	}
	id := objectid.New()
	return &request{l: l, name: name, keys: keys(name), owner: lock.Owner{Process: l.process, ID: id}, text: l.owners + id.String()}, nil
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
	a := answer{sent: time.Now()}
	reply, err := r.l.eval(ctx, acquireScript, r.keys, r.text, r.l.ttlText, r.l.seenText(), r.place(queue))
	if err != nil {
		return a, err
	}
	ttl, text, held := strings.Cut(reply, " ")
	if !held {
		a.granted, text = true, reply+" "+r.text
	} else if ms, err := strconv.ParseInt(ttl, 10, 64); err == nil {
		a.ttl = time.Duration(ms) * time.Millisecond
	}
	if a.value, err = parseValue(text); err != nil {
		return a, err
	}
	r.l.see(a.value.fence)
	return a, nil
}

// place returns r's place in line, or "" if it is not to stand there.
func (r *request) place(queue bool) string {
	if !queue {
		return ""
	}
	return r.l.deaf + " " + r.l.ttlText + " " + r.l.line.channel + " " + r.text
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
	if r.joined {
		r.l.line.holds(r.text)
	}
	r.fence = fence
	return lock.NewLease(ctx, r.name, r.owner, nil, engine.Grant{
		Fence: fence, Deadline: deadline,
		Every: r.l.ttl / 3, Retry: r.l.ttl / 6, Renewals: &r.l.renewals, Keeper: r,
	})
}

// Keep renews the lease.
func (r *request) Keep() (time.Time, error) {
	sent := time.Now()
	reply, err := r.l.eval(context.Background(), renewScript, r.keys, r.text, r.l.ttlText)
	if err != nil {
		return time.Time{}, fmt.Errorf("redislock: renew %q: %w", r.name, err)
	}
	if reply != "1" {
		return time.Time{}, fmt.Errorf("%w: %q: Redis has it for another or for nobody", lock.ErrLost, r.name)
	}
	return safe(sent, r.l.ttl), nil
}

// tries is how often a request is sent that nobody waits for.
const tries = 3

// Free gives the lock back.
func (r *request) Free() error {
	defer r.leave()
	if err := r.l.begin(); err != nil {
		return err
	}
	defer r.l.calls.Done()
	had, unsure, err := r.release()
	if err != nil {
		return fmt.Errorf("redislock: release %q: %w; it frees itself within %v", r.name, err, r.l.ttl)
	}
	if !had && !unsure { // unsure: a try whose reply was lost may have done it
		return fmt.Errorf("%w: %q: Redis had it for another or for nobody", lock.ErrLost, r.name)
	}
	return nil
}

// leave forgets that r waited or held.
func (r *request) leave() {
	if r.joined {
		r.l.line.leave(r.text)
	}
}

// release gives the lock back, or takes r out of the line if it may stand there
// still. It reports whether r had the lock, and whether an earlier try may have
// worked.
func (r *request) release() (had, unsure bool, err error) {
	held := r.text
	if r.fence > 0 {
		held = value{r.fence, r.text}.String()
	}
	for i := range tries {
		if i > 0 {
			unsure = true
			time.Sleep(r.l.try / 10)
		}
		var reply string
		reply, err = r.l.eval(context.Background(), releaseScript, r.keys, held, r.l.ttlText, r.place(r.joined && r.fence == 0))
		if err == nil {
			return reply == "1", unsure, nil
		}
		if permanent(err) {
			break
		}
	}
	return false, unsure, err
}

// giveUp takes back, in the background, whatever r has asked for. The caller's
// call is still counted in l.calls.
func (r *request) giveUp() {
	r.leave()
	r.l.calls.Go(func() { _, _, _ = r.release() })
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

// SetGroup does nothing yet.
func (r *request) SetGroup(int) error { return nil }
