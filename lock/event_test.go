package lock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
)

// told collects the events of a lease.
type told struct {
	mu     sync.Mutex
	events []lock.Event
}

func (s *told) lease(k *keeper) *lock.Lease {
	tell := func(e lock.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, e)
	}
	return calls.NewLease(context.Background(), "job", lock.Owner{}, tell, engine.Grant{
		Fence: 7, Deadline: time.Now().Add(ttl), TTL: ttl, Keeper: k,
	})
}

func (s *told) String() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var text strings.Builder
	for _, e := range s.events {
		if e.Name != "job" || e.Fence != 7 {
			fmt.Fprintf(&text, "%+v", e)
		}
		fmt.Fprintf(&text, "%s after %.0fs: %v; ", e.Kind, e.Took.Seconds(), e.Err)
	}
	return text.String()
}

func TestLeaseEvents(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		name string
		keep func(n int) error
		free error
		want string
	}{
		{"renewed", func(int) error { return nil }, nil, "released after 58s: <nil>; "},
		{
			"renewed late", func(n int) error { return []error{nil, boom}[n%2] }, nil,
			"renewed-late after 11s: <nil>; renewed-late after 22s: <nil>; renewed-late after 33s: <nil>; renewed-late after 44s: <nil>; renewed-late after 55s: <nil>; released after 58s: <nil>; ",
		},
		{
			"not renewed", func(int) error { return boom }, nil,
			"lost after 30s: lock: expired before it could be renewed; ",
		},
		{"lost", func(int) error { return lock.ErrLost }, lock.ErrLost, "lost after 10s: lock: lost; "},
		{"not freed", func(int) error { return nil }, boom, "released after 58s: boom; "},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s told
				n := 0
				lease := s.lease(&keeper{free: test.free, keep: func() (time.Time, error) {
					n++
					return time.Now().Add(ttl), test.keep(n)
				}})
				time.Sleep(58 * time.Second) // between two renewals
				_ = lease.Release()
				if got := s.String(); got != test.want {
					t.Errorf("events\n%s, want\n%s", got, test.want)
				}
			})
		})
	}
}

// A renewal that was granted for less than the one before takes nothing from the lease,
// and the context follows the last deadline.
func TestDeadlineOnlyMovesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		n := 0
		lease := begin(&keeper{keep: func() (time.Time, error) {
			if n++; n > 2 {
				return time.Time{}, errors.New("connection reset")
			}
			return time.Now().Add([]time.Duration{ttl, ttl / 10}[n-1]), nil
		}})
		<-lease.Context().Done()
		if got, want := time.Since(began), ttl/3+ttl; got != want || lease.Deadline().Sub(began) != want {
			t.Errorf("ended after %v, deadline after %v; want %v", got, lease.Deadline().Sub(began), want)
		}
	})
}

// locker is a Locker that has one lease to give.
type locker struct {
	lock.Locker
	lease *lock.Lease
}

func (l locker) Acquire(context.Context, string, *lock.AcquireOptions) (*lock.Lease, error) {
	return l.lease, nil
}

// Do ends the context of the function with the lease, and returns both errors.
func TestDoEndsWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		ctx, stop := context.WithTimeout(t.Context(), 10*ttl)
		defer stop()
		lease := begin(&keeper{keep: func() (time.Time, error) { return time.Time{}, lock.ErrLost }})
		err := lock.Do(ctx, locker{lease: lease}, "job", func(ctx context.Context, _ *lock.Lease) error {
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, lock.ErrLost) {
				t.Errorf("cause %v, want ErrLost", cause)
			}
			return boom
		}, nil)
		if !errors.Is(err, boom) || !errors.Is(err, lock.ErrLost) {
			t.Errorf("Do: %v, want boom and ErrLost", err)
		}
	})
}

// The events of a lease come one at a time and in order, also while the function that gets
// them takes its time, and a release that an event has led to does not wait for itself.
func TestLeaseEventsComeInOrder(t *testing.T) {
	for _, test := range []struct {
		name     string
		keep     error // of the second renewal; the first fails and the third succeeds
		releases bool  // in the first event
		want     string
	}{
		{"released", nil, false, "renewed-late begins; renewed-late ends; released begins; released ends; "},
		{"lost", lock.ErrLost, false, "renewed-late begins; renewed-late ends; lost begins; lost ends; "},
		{"released by an event", nil, true, "renewed-late begins; renewed-late ends; released begins; released ends; "},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var text strings.Builder
				say := func(e lock.Event, what string) {
					mu.Lock()
					defer mu.Unlock()
					fmt.Fprintf(&text, "%s %s; ", e.Kind, what)
				}
				var lease *lock.Lease
				events := func(e lock.Event) {
					say(e, "begins")
					if e.Kind == lock.EventRenewedLate {
						if test.releases {
							mu.Lock()
							lease := lease
							mu.Unlock()
							_ = lease.Release()
						}
						time.Sleep(ttl) // three renewals
					}
					say(e, "ends")
				}
				n := 0
				mu.Lock()
				lease = calls.NewLease(context.Background(), "job", lock.Owner{}, events, engine.Grant{
					Fence: 7, Deadline: time.Now().Add(ttl), TTL: ttl, Keeper: &keeper{keep: func() (time.Time, error) {
						n++
						return time.Now().Add(ttl), []error{errors.New("boom"), nil, test.keep, test.keep, test.keep}[n-1]
					}},
				})
				mu.Unlock()
				time.Sleep(ttl) // it was renewed late a while ago
				_ = lease.Release()
				time.Sleep(2 * ttl)
				mu.Lock()
				defer mu.Unlock()
				if got := text.String(); got != test.want {
					t.Errorf("events\n%s, want\n%s", got, test.want)
				}
			})
		})
	}
}
