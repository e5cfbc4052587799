package lock_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
)

// fullBackend is a backend of locks all of which are held by others, but for a queue that
// nobody else waits in.
type fullBackend struct {
	lock.Locker
	alone bool // in the queue
}

func (fullBackend) held(name string) error {
	owner, _ := lock.ParseOwner("10.0.0.7:8080:1795166651598985:4711/507f1f77bcf86cd799439011")
	return &lock.HeldError{Status: lock.Status{Name: name, Held: true, Owner: owner, Holder: lock.Holder{Host: "vm"}}}
}

func noNotes(context.Context, string) (engine.Note, error) { return engine.Note{}, nil }

func (p fullBackend) TryAcquire(_ context.Context, name string, _ *lock.AcquireOptions) (*lock.Lease, error) {
	return nil, p.held(name)
}

func (p fullBackend) Acquire(ctx context.Context, name string, _ *lock.AcquireOptions) (*lock.Lease, error) {
	if p.alone && strings.HasSuffix(name, "#queue") {
		return begin(&keeper{}), nil
	}
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", ctx.Err(), p.held(name))
}

// The error of a call that finds all slots held says so, and who has one or waits for one.
func TestAllSlotsAreHeld(t *testing.T) {
	const by = `10\.0\.0\.7:8080:1795166651598985:4711/507f1f77bcf86cd799439011 on vm since 0001-01-01T00:00:00Z$`
	acquire := func(l lock.Locker) (*lock.Lease, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return l.Acquire(ctx, "job", nil)
	}
	for name, test := range map[string]struct {
		alone bool
		take  func(lock.Locker) (*lock.Lease, error)
		want  string
	}{
		"TryAcquire": {false, func(l lock.Locker) (*lock.Lease, error) { return l.TryAcquire(context.Background(), "job", nil) }, `^lock: held by another: "job": none of 3 slots is free; slot [012]: ` + by},
		"waits":      {true, acquire, `: context deadline exceeded: lock: held by another: "job": none of 3 slots is free; slot [012]: ` + by},
		"in queue":   {false, acquire, `: context deadline exceeded: lock: held by another: "job": none of 3 slots is free; first waiter: ` + by},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := test.take(lock.Slots(calls.WithNotes(fullBackend{alone: test.alone}, noNotes), 3))
				if held := (*lock.HeldError)(nil); !errors.As(err, &held) || !errors.Is(err, lock.ErrHeld) || held.Slots != 3 || !held.Status.Held {
					t.Errorf("%v: %+v, want a HeldError of 3 slots", err, held)
				}
				if !regexp.MustCompile(test.want).MatchString(fmt.Sprint(err)) {
					t.Errorf("%v, want %s", err, test.want)
				}
				if in := strings.Contains(test.want, "deadline"); errors.Is(err, context.DeadlineExceeded) != in {
					t.Errorf("%v: wraps DeadlineExceeded: %v, want %v", err, !in, in)
				}
			})
		})
	}
}
