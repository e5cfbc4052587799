package lock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock"
)

// leader is a call of Lead, whose events are written down.
type leader struct {
	backend backend
	events  strings.Builder
	pauses  []time.Duration
	errs    []error // of the terms
}

func (l *leader) lead(ctx context.Context, f func(ctx context.Context, term int) error, o lock.LeadOptions) error {
	term := 0
	o.Events = func(e lock.Event) {
		fmt.Fprintf(&l.events, "%s %d; ", e.Kind, e.Fence)
		if e.Kind == lock.EventPaused {
			l.pauses, l.errs = append(l.pauses, e.Took), append(l.errs, e.Err)
		}
	}
	return lock.Lead(ctx, &l.backend, "chair", func(ctx context.Context, lease *lock.Lease) error {
		term++
		return f(ctx, term)
	}, &o)
}

var errResigned = errors.New("resigned")

// The pause doubles up to the longest, and begins again after a long term. Meanwhile the
// lock is free.
func TestLeadPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l leader
		lengths := []time.Duration{0, 0, 0, 0, 0, 11 * time.Second, 10 * time.Second, 0}
		want := []time.Duration{1, 2, 4, 8, 10, 1, 2}
		var ended time.Time
		err := l.lead(t.Context(), func(_ context.Context, term int) error {
			if n := len(l.pauses); n > 0 {
				if got := time.Since(ended); got != l.pauses[n-1] {
					t.Errorf("pause %d was %v, and %v was said", n, got, l.pauses[n-1])
				}
			}
			time.Sleep(lengths[term-1])
			if ended = time.Now(); term == len(lengths) {
				return nil
			}
			time.AfterFunc(time.Millisecond, func() {
				if s, err := l.backend.Status(t.Context(), "chair"); err != nil || s.Held {
					t.Errorf("during the pause: %+v, %v", s, err)
				}
			})
			return errResigned
		}, lock.LeadOptions{MaxPause: 10 * time.Second})
		if err != nil || len(l.pauses) != len(want) {
			t.Fatalf("Lead: %v after the pauses %v", err, l.pauses)
		}
		for i, d := range want {
			if got := l.pauses[i]; got < d*time.Second/2 || got > d*time.Second || !errors.Is(l.errs[i], errResigned) {
				t.Errorf("pause %d is %v after %v, want %vs or half of it at least", i, got, l.errs[i], int(d))
			}
		}
		if got, want := l.events.String()[:28], "acquired 1; paused 1; acquir"; got != want {
			t.Errorf("events %s, want %s", got, want)
		}
	})
}

// A leader that loses the lock leads again, also if its function returned nil then.
func TestLeadAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l leader
		err := l.lead(t.Context(), func(ctx context.Context, term int) error {
			if term == 3 {
				return nil
			}
			l.backend.clear(false)
			<-ctx.Done()
			if term == 1 {
				return nil
			}
			return ctx.Err()
		}, lock.LeadOptions{})
		if err != nil || len(l.errs) != 2 || !errors.Is(l.errs[0], lock.ErrLost) || !errors.Is(l.errs[1], lock.ErrLost) {
			t.Errorf("Lead: %v; terms ended with %v, want two with ErrLost", err, l.errs)
		}
	})
}

// The end of ctx ends Lead, whatever that does then. The error has the cause.
func TestLeadEndsWithCtx(t *testing.T) {
	boom := errors.New("boom")
	for when, test := range map[string]struct {
		after time.Duration // the first term takes a second, the pause another at least
		terms int
		want  error
	}{
		"waiting": {time.Second / 2, 0, boom}, "term": {3 * time.Second / 2, 1, errResigned}, "pause": {3 * time.Second, 1, errResigned},
	} {
		synctest.Test(t, func(t *testing.T) {
			var l leader
			if _, err := l.backend.TryAcquire(t.Context(), "chair", nil); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Second, func() { l.backend.clear(false) })
			ctx, stop := context.WithCancelCause(t.Context())
			time.AfterFunc(test.after, func() { stop(boom) })
			terms := 0
			err := l.lead(ctx, func(ctx context.Context, term int) error {
				terms = term
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
				return errResigned
			}, lock.LeadOptions{Pause: 4 * time.Second})
			if took := time.Since(time.Now().Truncate(time.Hour)); !errors.Is(err, boom) || !errors.Is(err, test.want) || terms != test.terms || took != test.after {
				t.Errorf("%s: %v after %d terms and %v", when, err, terms, took)
			}
			if when == "waiting" && !errors.Is(err, lock.ErrHeld) {
				t.Errorf("%s: %v, want it to name the holder", when, err)
			}
			if s, _ := l.backend.Status(t.Context(), "chair"); s.Held && when != "waiting" {
				t.Errorf("%s: the lock is held", when)
			}
		})
	}
}

// A panic goes on in the caller, and the lock is free.
func TestLeadPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l leader
		func() {
			defer func() {
				if got := recover(); got != "boom" {
					t.Errorf("recovered %v", got)
				}
			}()
			_ = l.lead(t.Context(), func(context.Context, int) error { panic("boom") }, lock.LeadOptions{})
		}()
		if s, err := l.backend.Status(t.Context(), "chair"); err != nil || s.Held {
			t.Errorf("after a panic: %+v, %v", s, err)
		}
	})
}

// refusing is a Locker that cannot take locks until refusals have been made.
type refusing struct {
	lock.Locker
	err      error
	refusals int
}

func (r *refusing) Acquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	if r.refusals--; r.refusals < 0 {
		return r.Locker.Acquire(ctx, name, o)
	}
	return nil, r.err
}

// Errors of use end Lead. After any other error, even a final one, Lead reports it, pauses and
// asks again: somebody may correct the password.
func TestLeadReturnsErrorsOfUseOnly(t *testing.T) {
	wrong := errors.New("wrong password")
	for _, test := range []struct {
		err      error
		refusals int
		after    time.Duration // of ctx; 0: never
		want     error
		events   string
	}{
		{wrong, 3, 0, nil, "paused 0; paused 0; paused 0; acquired 1; "},
		{wrong, 1000, 5 * time.Second / 2, wrong, ""},
		{fmt.Errorf("name: %w", lock.ErrInvalid), 1, 0, lock.ErrInvalid, ""},
		{fmt.Errorf("redislock: %w", lock.ErrClosed), 1, 0, lock.ErrClosed, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if test.after > 0 {
				time.AfterFunc(test.after, stop)
			}
			var backend backend
			var events strings.Builder
			began, paused := time.Now(), time.Duration(0)
			err := lock.Lead(ctx, &refusing{&backend, test.err, test.refusals}, "chair", func(context.Context, *lock.Lease) error { return nil }, &lock.LeadOptions{
				Events: func(e lock.Event) {
					fmt.Fprintf(&events, "%s %d; ", e.Kind, e.Fence)
					if e.Kind == lock.EventPaused {
						paused += e.Took
						if e.Name != "chair" || !e.Owner.IsZero() || !errors.Is(e.Err, test.err) || e.Took > time.Second {
							t.Errorf("event %+v, want the name, no owner, the error and a pause of 1 s at most", e)
						}
					}
				},
			})
			if !errors.Is(err, test.want) || test.after == 0 && (events.String() != test.events || time.Since(began) != paused) ||
				test.after > 0 && (!errors.Is(err, context.Canceled) || time.Since(began) != test.after) {
				t.Errorf("%v: Lead returned %v after %v, with pauses of %v and the events %s; want %v and %s", test.err, err, time.Since(began), paused, events.String(), test.want, test.events)
			}
		})
	}
	for _, o := range []lock.LeadOptions{{Pause: -1}, {MaxPause: -1}} {
		if err := lock.Lead(t.Context(), &refusing{}, "chair", nil, &o); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("Lead with %+v: %v, want ErrInvalid", o, err)
		}
	}
}

// A MaxPause below Pause also limits the pauses after failed attempts.
func TestLeadPausesAfterFailedAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var backend backend
		began := time.Now()
		err := lock.Lead(t.Context(), &refusing{&backend, errors.New("wrong password"), 1}, "chair", func(context.Context, *lock.Lease) error { return nil },
			&lock.LeadOptions{Pause: time.Hour, MaxPause: time.Second})
		if err != nil || time.Since(began) > time.Second {
			t.Errorf("Lead: %v after %v, want nil within 1 s", err, time.Since(began))
		}
	})
}

// The longest pause is a minute, or the first if that is longer.
func TestLeadWithALongPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l leader
		err := l.lead(t.Context(), func(_ context.Context, term int) error {
			if term == 9 {
				return nil
			}
			return errResigned
		}, lock.LeadOptions{Pause: 3 * time.Minute})
		if err != nil || slices.Min(l.pauses) < 3*time.Minute/2 || slices.Max(l.pauses) > 3*time.Minute {
			t.Errorf("Lead: %v after the pauses %v, want 90s to 180s", err, l.pauses)
		}
	})
}

// If LeadOptions.Events panics, the panic leaves Lead, and the lock is free then.
func TestLeadReleasesTheLockAfterAPanicOfEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l leader
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, kind := range []lock.EventKind{lock.EventAcquired, lock.EventPaused} {
			func() {
				defer func() {
					if got := recover(); got != kind {
						t.Errorf("Lead ended with %v, want the panic at %s", got, kind)
					}
				}()
				_ = lock.Lead(ctx, &l.backend, "chair", func(context.Context, *lock.Lease) error { return errResigned }, &lock.LeadOptions{
					Events: func(e lock.Event) {
						if e.Kind == kind {
							panic(kind)
						}
					},
				})
			}()
			if s, err := l.backend.Status(t.Context(), "chair"); err != nil || s.Held {
				t.Errorf("after the panic at %s: %+v, %v; want the lock free", kind, s, err)
			}
		}
	})
}
