package redislock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// after is a driver that calls a function after each script, which may replace the error.
type after struct {
	Driver
	call func(s script, keys []string) error
}

func (d after) EvalSHA(ctx context.Context, sha1 string, keys, args []string) (string, error) {
	reply, err := d.Driver.EvalSHA(ctx, sha1, keys, args)
	if err == nil {
		err = d.call(script{sha1: sha1}, keys)
	}
	return reply, err
}

func (d after) Eval(ctx context.Context, text string, keys, args []string) (string, error) {
	reply, err := d.Driver.Eval(ctx, text, keys, args)
	if err == nil {
		err = d.call(script{text: text}, keys)
	}
	return reply, err
}

// openAfter opens a Locker that calls a function after each script.
func openAfter(t *testing.T, server *testenv.RedisServer, call func(s script, keys []string) error) *Locker {
	t.Helper()
	l := testenv.Must(Open(t.Context(), server.URL(), nil))(t)
	t.Cleanup(func() { l.Close() })
	l.driver = after{l.driver, call}
	return l
}

// A release whose reply was lost may have given the lock to the first waiter, which learns that
// at once.
func TestLostReplyToAHandover(t *testing.T) {
	lose := false
	l := openAfter(t, testenv.Redis(t), func(s script, _ []string) error {
		if release := releaseScript(); lose && (s.sha1 == release.sha1 || s.text == release.text) {
			lose = false
			return errors.New("no reply")
		}
		return nil
	})
	lease := testenv.Must(l.Acquire(t.Context(), "job", nil))(t)
	next := make(chan *lock.Lease, 1)
	go func() {
		lease, err := l.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Error(err)
		}
		next <- lease
	}()
	testenv.Await(t, "waiter in the queue", func() error {
		if l.queue.first("job") == nil {
			return errors.New("none")
		}
		return nil
	})
	time.Sleep(50 * time.Millisecond)
	lose = true
	began := time.Now()
	testenv.NoError(t, lease.Release())
	second := <-next
	if took := time.Since(began); took > 700*time.Millisecond { // the next poll is after a second
		t.Errorf("the waiter has the lock after %v", took)
	}
	if second != nil {
		testenv.NoError(t, second.Release())
	}
}

// The error of a break that comes just after the release does not say that the lock was broken.
func TestBreakJustAfterTheRelease(t *testing.T) {
	server := testenv.Redis(t)
	var lease *lock.Lease
	l := openAfter(t, server, func(_ script, keys []string) error {
		if strings.HasSuffix(keys[1], ":broken") && lease != nil {
			released := lease
			lease = nil
			return released.Release()
		}
		return nil
	})
	holder := testenv.Must(Open(t.Context(), server.URL(), nil))(t)
	defer holder.Close()
	lease = testenv.Must(holder.Acquire(t.Context(), "job", nil))(t)
	if err := l.Break(t.Context(), "job", lease.Owner()); !errors.Is(err, lock.ErrLost) || strings.Contains(err.Error(), "broken by") {
		t.Errorf("Break: %v", err)
	}
}

// A waiter whose time ends while it waits within its process says for how long the lock may be
// held, even if it was renewed since.
func TestRefusalWithinTheProcess(t *testing.T) {
	const ttl = 2 * time.Second
	l := openAfter(t, testenv.Redis(t), func(script, []string) error { return nil })
	lease := testenv.Must(l.Acquire(t.Context(), "job", &lock.AcquireOptions{TTL: ttl}))(t)
	time.Sleep(ttl * 5 / 4)
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	_, err := l.Acquire(ctx, "job", nil)
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok || held.Status.Owner != lease.Owner() || held.Status.TTL <= 0 || held.Status.TTL > ttl {
		t.Errorf("Acquire: %v; %+v", err, held)
	}
	testenv.NoError(t, lease.Release())
}

// late is a context that notices its deadline late, as on a busy machine.
type late struct {
	context.Context
	deadline time.Time
}

func (c late) Deadline() (time.Time, bool) { return c.deadline, true }

// A request that is given up at the deadline does not hide who has the lock, even if the context
// has not noticed its end.
func TestRequestGivenUpAtTheDeadline(t *testing.T) {
	server := testenv.Redis(t)
	holder := testenv.Must(Open(t.Context(), server.URL(), nil))(t)
	defer holder.Close()
	lease := testenv.Must(holder.Acquire(t.Context(), "job", nil))(t)
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	end, asked := time.Now().Add(time.Second), 0
	l := openAfter(t, server, func(s script, _ []string) error {
		if acquire := acquireScript(); s.sha1 != acquire.sha1 && s.text != acquire.text {
			return nil
		}
		if asked++; asked == 1 {
			return nil
		}
		time.Sleep(time.Until(end))
		return context.DeadlineExceeded
	})
	_, err := l.Acquire(late{ctx, end}, "job", nil)
	if !errors.Is(err, lock.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "no answer") {
		t.Errorf("Acquire: %v", err)
	}
	testenv.NoError(t, lease.Release())
}
