package storelock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/locktest"
	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/store"
)

// A lease ends a twentieth of its TTL early, counted from before the write.
func TestDeadlineCountsFromBeforeTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, c := new(memory).locker(t, storelock.Options{})
		c.change(func() { c.request, c.answer = time.Second, time.Second })
		began := time.Now()
		lease := get(t, acquire(t.Context(), t, l))
		if got, want := lease.Deadline().Sub(began), 2*time.Second+clockTTL*19/20; got != want {
			t.Errorf("deadline %v after the call, want %v: the read took 2 s", got, want)
		}
		time.Sleep(clockTTL / 2)
		if got, want := lease.Deadline().Sub(c.swapped), clockTTL*19/20; got != want {
			t.Errorf("deadline %v after the renewal began, want %v", got, want)
		}
		if err := errors.Join(lease.Release(), l.Close()); err != nil {
			t.Error(err)
		}
	})
}

// A holder is cut off in one direction or both. The next one has the lock only after
// the lease has ended, also if the read by which it met the lock took long.
func TestTakeoverAfterTheDeadline(t *testing.T) {
	for _, test := range []struct{ requests, answers bool }{{true, true}, {true, false}, {false, true}} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := new(memory)
				a, wire := m.locker(t, storelock.Options{})
				b, slow := m.locker(t, storelock.Options{})
				slow.change(func() { slow.request = clockTTL / 8 })
				next := acquire(t.Context(), t, b)
				time.Sleep(clockTTL/8 - time.Millisecond)
				lease := get(t, acquire(t.Context(), t, a))
				wire.change(func() { wire.loseRequests, wire.loseAnswer = test.requests, test.answers })
				synctest.Wait()
				time.Sleep(time.Millisecond)
				slow.change(func() { slow.request = 0 })
				var ended time.Time
				go func() {
					<-lease.Context().Done()
					ended = time.Now()
				}()
				after := get(t, next)
				synctest.Wait()
				if ended.IsZero() {
					t.Fatal("the next one has the lock and the lease goes on")
				}
				wait := time.Since(ended)
				if wait < clockTTL/20 || test.requests && wait > clockTTL/20+time.Second {
					t.Errorf("the next one has the lock %v after the end of the lease, want at least %v", wait, clockTTL/20)
				}
				if after.Fence() <= lease.Fence() {
					t.Errorf("fence %d after %d", after.Fence(), lease.Fence())
				}
				wire.change(func() { wire.loseRequests, wire.loseAnswer = false, false })
				if err := lease.Release(); !errors.Is(err, lock.ErrExpired) {
					t.Errorf("Release: %v, want ErrExpired", err)
				}
				if s, err := a.Status(t.Context(), "job"); err != nil || s.Owner != after.Owner() {
					t.Errorf("Release of the lease that had ended: Status %+v, %v; want the next one", s, err)
				}
				if err := errors.Join(after.Check(), after.Release(), a.Close(), b.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A lock that is released is the first waiter's for a second. If that one does not come,
// another has it then, and the first is out of the queue.
func TestReservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		a, _ := m.locker(t, storelock.Options{})
		b, dead := m.locker(t, storelock.Options{})
		c, _ := m.locker(t, storelock.Options{})
		ctx, stop := context.WithCancel(t.Context())
		lease := get(t, acquire(t.Context(), t, a))
		first := acquire(ctx, t, b)
		time.Sleep(time.Second)
		second := acquire(t.Context(), t, c)
		time.Sleep(time.Second)
		queue, err := a.Status(t.Context(), "job")
		if err != nil || queue.Waiters != 2 {
			t.Errorf("Status: %+v, %v; want two waiters", queue, err)
		}
		dead.change(func() { dead.loseRequests = true })
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
		released := time.Now()
		var held *lock.HeldError
		if lease, err := a.TryAcquire(t.Context(), "job", nil); err == nil {
			t.Fatalf("TryAcquire has the lock, with fence %d", lease.Fence())
		} else if !errors.As(err, &held) || held.Status.Held || held.Status.Owner.IsZero() {
			t.Errorf("TryAcquire: %v, want that the lock is reserved for the first waiter", err)
		}
		next := get(t, second)
		if took := time.Since(released); took < time.Second || took > 2*time.Second {
			t.Errorf("the second waiter had the lock after %v, want the reservation of a second", took)
		}
		if s, err := a.Status(t.Context(), "job"); err != nil || s.Owner != next.Owner() || s.Waiters != 0 {
			t.Errorf("Status: %+v, %v; want no waiters", s, err)
		}
		stop()
		<-first
		if err := errors.Join(next.Release(), a.Close(), b.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
}

// If the first waiter does not come either, the next one takes over from a dead holder a
// second later.
func TestTakeoverByTheSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		a, holder := m.locker(t, storelock.Options{})
		b, first := m.locker(t, storelock.Options{})
		c, _ := m.locker(t, storelock.Options{})
		ctx, stop := context.WithCancel(t.Context())
		lease := get(t, acquire(t.Context(), t, a))
		holder.change(func() { holder.loseRequests = true })
		dead := acquire(ctx, t, b)
		time.Sleep(time.Second)
		first.change(func() { first.loseRequests = true })
		began := time.Now()
		next := get(t, acquire(t.Context(), t, c))
		if took, want := time.Since(began), clockTTL+time.Second; took < want || took > want+time.Second/2 {
			t.Errorf("the second waiter had the lock after %v, want %v", took, want)
		}
		stop()
		<-dead
		_ = lease.Release()
		if err := errors.Join(next.Release(), a.Close(), b.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
}

// A call whose write arrived has the lock with the fence of that write, though the
// answer is lost, or comes when the deadline has passed.
func TestAnswerToTheTakingWrite(t *testing.T) {
	for name, disturb := range map[string]func(c *client){
		"lost": func(c *client) { c.change(func() { c.loseAnswer = true }) },
		"late": func(c *client) { c.change(func() { c.answer = clockTTL - clockTTL/40 }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, c := new(memory).locker(t, storelock.Options{})
				first := get(t, acquire(t.Context(), t, l))
				if err := first.Release(); err != nil {
					t.Fatal(err)
				}
				c.change(func() { c.request = time.Second })
				got := acquire(t.Context(), t, l)
				time.Sleep(1500 * time.Millisecond) // it has read, and writes
				disturb(c)
				time.Sleep(time.Second)
				s, err := newLocker(t, &client{memory: c.memory}, nil).Status(t.Context(), "job")
				if err != nil || !s.Held {
					t.Fatalf("Status: %+v, %v", s, err)
				}
				time.Sleep(clockTTL - 3*time.Second)
				c.change(func() { c.request, c.answer, c.loseAnswer = 0, 0, false })
				lease := get(t, got)
				if err := lease.Check(); err != nil || lease.Fence() != s.Fence {
					t.Errorf("a lease with fence %d, %v; want %d, not ended", lease.Fence(), err, s.Fence)
				}
				if err := errors.Join(lease.Release(), l.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The first write of a lock may create the collection and take longer than the TTL. Its
// lease has time until its first renewal nevertheless.
func TestSlowFirstWrite(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, clockTTL} {
		synctest.Test(t, func(t *testing.T) {
			c := &client{memory: new(memory), way: way{inserts: 2 * time.Second}}
			l := newLocker(t, c, &storelock.Options{TTL: ttl})
			lease, err := l.TryAcquire(t.Context(), "job", nil)
			if err != nil {
				t.Fatal(err)
			}
			if left := time.Until(lease.Deadline()); left < ttl*19/20-ttl/3 {
				t.Errorf("a lease of %v begins with %v", ttl, left)
			}
			time.Sleep(time.Minute)
			if err := errors.Join(lease.Check(), lease.Release(), l.Close()); err != nil {
				t.Errorf("TTL %v: %v", ttl, err)
			}
		})
	}
}

// A waiter enters the queue while the holder renews its lease through a slow store: the
// renewal finds out, and is repeated in time.
func TestSlowRenewalMeetsAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		a, slow := m.locker(t, storelock.Options{})
		b, _ := m.locker(t, storelock.Options{})
		lease := get(t, acquire(t.Context(), t, a))
		slow.change(func() { slow.request, slow.answer = clockTTL/11, clockTTL/11 })
		next := acquire(t.Context(), t, b)
		time.Sleep(2 * clockTTL)
		if err := lease.Check(); err != nil {
			t.Error(err)
		}
		slow.change(func() { slow.request, slow.answer = 0, 0 })
		_ = lease.Release()
		if err := errors.Join(get(t, next).Release(), a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	})
}

// A call that gives up leaves the queue, and gives back a lock that its write has taken.
func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		a, _ := m.locker(t, storelock.Options{})
		b, wire := m.locker(t, storelock.Options{})
		status := func(held bool, waiters int) {
			t.Helper()
			synctest.Wait()
			if s, err := a.Status(t.Context(), "job"); err != nil || s.Held != held || s.Waiters != waiters {
				t.Errorf("Status: %+v, %v; want held %v with %d waiters", s, err, held, waiters)
			}
		}
		lease := get(t, acquire(t.Context(), t, a))
		ctx, stop := context.WithCancel(t.Context())
		got := acquire(ctx, t, b)
		time.Sleep(time.Second)
		status(true, 1)
		stop()
		<-got
		status(true, 0)
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
		wire.change(func() { wire.request = time.Second })
		ctx, stop = context.WithCancel(t.Context())
		got = acquire(ctx, t, b)
		time.Sleep(1500 * time.Millisecond) // it has read, and writes
		wire.change(func() { wire.loseAnswer = true })
		time.Sleep(time.Second)
		status(true, 0)
		wire.change(func() { wire.loseAnswer = false })
		stop()
		<-got
		time.Sleep(3 * time.Second)
		status(false, 0)
		if err := errors.Join(a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	})
}

// A queue that is full takes no more waiters, so that the record stays small.
func TestFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		a, _ := m.locker(t, storelock.Options{})
		b, _ := m.locker(t, storelock.Options{})
		lease := get(t, acquire(t.Context(), t, a))
		for _, waiters := range []int{199, 200} {
			var doc map[string]any
			err := bson.Unmarshal(m.doc, &doc)
			doc["queue"] = slices.Repeat([]string{"a waiter"}, waiters)
			if err == nil {
				m.doc, err = bson.Marshal(doc)
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			got := acquire(ctx, t, b)
			synctest.Wait()
			if s, err := a.Status(t.Context(), "job"); err != nil || s.Waiters != 200 {
				t.Errorf("one more than %d: Status %+v, %v; want 200 waiters", waiters, s, err)
			}
			stop()
			<-got
			synctest.Wait()
		}
		if err := errors.Join(lease.Release(), a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	})
}

// A fence is above the last one, also where that is ahead of the clock.
func TestFenceAheadOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = int64(1 << 61)
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "job"}, {Key: "version", Value: 1}, {Key: "fence", Value: ahead}})
		if err != nil {
			t.Fatal(err)
		}
		l, _ := (&memory{doc: doc}).locker(t, storelock.Options{})
		for i := range 2 {
			lease := get(t, acquire(t.Context(), t, l))
			if lease.Fence() != uint64(ahead)+1+uint64(i) {
				t.Errorf("fence %d, want %d", lease.Fence(), uint64(ahead)+1+uint64(i))
			}
			if err := lease.Release(); err != nil {
				t.Error(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []lock.EventKind
		m := new(memory)
		a, _ := m.locker(t, storelock.Options{})
		observe, through := locktest.Observe(t)
		b, _ := m.locker(t, storelock.Options{Events: func(e lock.Event) {
			observe(e)
			if e.Name != "job" || e.Owner.IsZero() || (e.Fence == 0) != (e.Kind == lock.EventWaiting) {
				t.Errorf("%+v", e)
			}
			events = append(events, e.Kind)
		}})
		lease := get(t, acquire(t.Context(), t, a))
		next := acquire(t.Context(), t, through(b))
		time.Sleep(time.Second)
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
		if err := errors.Join(get(t, next).Release(), a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
		if got, want := fmt.Sprint(events), "[waiting acquired released]"; got != want {
			t.Errorf("events %s, want %s", got, want)
		}
	})
}

// A call that waits tells once that the store does not answer, whether a look fails or takes
// long, and again after an answer. If it ends meanwhile, it says so and not that the lock is
// held, and Close waits a second at most.
func TestSilence(t *testing.T) {
	for name, test := range map[string]struct {
		harm way
		text string
	}{
		"hangs":  {way{loseRequests: true}, "no answer within "},
		"slow":   {way{request: 6 * time.Second}, "no answer within 5s"},
		"breaks": {way{fail: errors.New("connection refused")}, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var told []error
				m := new(memory)
				a, _ := m.locker(t, storelock.Options{})
				observe, through := locktest.Observe(t)
				b, wire := m.locker(t, storelock.Options{Events: func(e lock.Event) {
					observe(e)
					if e.Kind == lock.EventUnanswered {
						mu.Lock()
						defer mu.Unlock()
						told = append(told, e.Err)
					}
				}})
				lease := get(t, acquire(t.Context(), t, a))
				ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
				defer stop()
				got := make(chan error, 1)
				go func() {
					_, err := through(b).Acquire(ctx, "job", nil)
					got <- err
				}()
				after := func(d time.Duration, w way, want int) {
					t.Helper()
					time.Sleep(d)
					mu.Lock()
					defer mu.Unlock()
					if len(told) != want || want > 0 && !strings.Contains(told[want-1].Error(), test.text) {
						t.Errorf("told %v, want %d times %q", told, want, test.text)
					}
					wire.change(func() { wire.way = w })
				}
				after(time.Second, test.harm, 0)
				if !test.harm.loseRequests { // for ever
					after(5500*time.Millisecond, way{}, 1)
					after(3*time.Second, test.harm, 1)
					after(5500*time.Millisecond, way{loseRequests: test.harm.fail == nil, fail: test.harm.fail}, 2)
				}
				err := <-got
				if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lock.ErrHeld) || !strings.Contains(err.Error(), test.text[:10]) {
					t.Errorf("%v, want %q and not that the lock is held", err, test.text)
				}
				began := time.Now()
				if err := b.Close(); err != nil || time.Since(began) > time.Second {
					t.Errorf("Close: %v after %v, want at most 1s", err, time.Since(began))
				}
				if err := errors.Join(lease.Release(), a.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// If a driver sends no request shortly before the time to wait ends, the lock that was held all
// that time is still said to be held, and no event says that the store does not answer.
func TestUnsentBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		a, _ := m.locker(t, storelock.Options{})
		observe, through := locktest.Observe(t)
		b, wire := m.locker(t, storelock.Options{Events: func(e lock.Event) {
			observe(e)
			if e.Kind == lock.EventUnanswered {
				t.Errorf("told %v", e.Err)
			}
		}})
		lease := get(t, acquire(t.Context(), t, a))
		wire.change(func() { wire.unsent = 900 * time.Millisecond })
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		defer stop()
		if _, err := through(b).Acquire(ctx, "job", nil); !errors.Is(err, lock.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want that the lock is held", err)
		}
		if err := errors.Join(lease.Release(), a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	})
}

// The leases of a Locker that is closed end at their deadlines, and that is told.
func TestLeasesAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan lock.Event, 9)
		m := new(memory)
		a, _ := m.locker(t, storelock.Options{Events: func(e lock.Event) { events <- e }})
		b, _ := m.locker(t, storelock.Options{})
		lease := get(t, acquire(t.Context(), t, a))
		time.Sleep(clockTTL / 2)
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		left := time.Until(lease.Deadline())
		next := acquire(t.Context(), t, b)
		time.Sleep(left - time.Millisecond)
		synctest.Wait()
		if err := lease.Check(); err != nil || len(events) != 1 || left < clockTTL/2 {
			t.Errorf("before the deadline, of %v after Close: %v, %d events", left, err, len(events))
		}
		<-events // Acquired
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if e := <-events; e.Kind != lock.EventLost || !errors.Is(e.Err, lock.ErrExpired) || e.Fence != lease.Fence() {
			t.Errorf("at the deadline: %+v, want Lost with ErrExpired", e)
		}
		if err := errors.Join(get(t, next).Release(), b.Close()); err != nil {
			t.Error(err)
		}
		// One that is released before has given the lock back.
		a, _ = m.locker(t, storelock.Options{})
		lease = get(t, acquire(t.Context(), t, a))
		if err := errors.Join(a.Close(), lease.Release()); err != nil {
			t.Errorf("Release after Close: %v", err)
		}
		if r, err := b.Status(t.Context(), "job"); !errors.Is(err, lock.ErrClosed) {
			t.Errorf("Status after Close: %+v, %v", r, err)
		}
	})
}

// Calls repeat attempts whose errors may pass until ctx or the Locker ends, also if the store
// has not answered before.
func TestErrorsThatMayPass(t *testing.T) {
	boom, wrongPassword := errors.New("connection refused"), &pgconn.PgError{Code: "28P01"}
	calls := map[string]func(ctx context.Context, l *storelock.Locker) error{
		"Acquire": func(ctx context.Context, l *storelock.Locker) error {
			lease, err := l.Acquire(ctx, "job", nil)
			if err != nil {
				return err
			}
			return lease.Release()
		},
		"Note": func(ctx context.Context, l *storelock.Locker) error {
			_, err := lock.HeldSlots(ctx, l, "job") // which reads a note
			return err
		},
	}
	for _, test := range []struct {
		fail         error
		reached      bool
		stop, closed time.Duration // 0: never
		want         error
		took         time.Duration
	}{
		{boom, false, 0, 0, nil, 10 * time.Second},
		{boom, true, 0, 0, nil, 10 * time.Second},
		{&pgconn.PgError{Code: "53300"}, false, 0, 0, nil, 10 * time.Second}, // too many clients
		{wrongPassword, false, 0, 0, wrongPassword, 0},
		{store.ErrClosed, true, 0, 0, store.ErrClosed, 0},
		{store.ErrMoved, true, 0, 0, store.ErrMoved, 0},
		{boom, true, 2 * time.Second, 0, boom, 2 * time.Second},
		{boom, true, 0, 3 * time.Second, lock.ErrClosed, 3 * time.Second},
	} {
		for name, call := range calls {
			t.Run(fmt.Sprint(name, test), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l, c := new(memory).locker(t, storelock.Options{})
					if test.reached {
						if _, err := l.Status(t.Context(), "other"); err != nil {
							t.Fatal(err)
						}
					}
					c.change(func() { c.fail = test.fail })
					time.AfterFunc(10*time.Second, func() { c.change(func() { c.fail = nil }) })
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					if test.stop > 0 {
						time.AfterFunc(test.stop, stop)
					}
					if test.closed > 0 {
						time.AfterFunc(test.closed, func() { l.Close() })
					}
					began := time.Now()
					err := call(ctx, l)
					if took := time.Since(began); !errors.Is(err, test.want) || took < test.took || took > test.took+time.Second {
						t.Errorf("%v after %v, want %v after %v", err, took, test.want, test.took)
					}
					l.Close()
				})
			})
		}
	}
}

// A call that waits in the queue stays there while the store refuses the password. If somebody
// has closed the store, the call ends, and Lead too.
func TestWaiterMeetsAnErrorThatIsFinalForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(memory)
		holder, _ := m.locker(t, storelock.Options{})
		lease, err := holder.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		waiter, c := m.locker(t, storelock.Options{})
		time.AfterFunc(time.Second, func() { c.change(func() { c.fail = &pgconn.PgError{Code: "28P01"} }) })
		time.AfterFunc(5*time.Second, func() { c.change(func() { c.fail = nil }) })
		time.AfterFunc(6*time.Second, func() { _ = lease.Release() })
		next, err := waiter.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Fatalf("the waiter: %v", err)
		}
		time.AfterFunc(time.Second, func() { c.change(func() { c.fail = store.ErrClosed }) })
		err = lock.Lead(t.Context(), waiter, "job", func(context.Context, *lock.Lease) error { return nil }, nil)
		if !errors.Is(err, store.ErrClosed) || !errors.Is(err, lock.ErrClosed) {
			t.Errorf("Lead with a closed store: %v", err)
		}
		c.change(func() { c.fail = nil })
		_ = next.Release()
		holder.Close()
		waiter.Close()
	})
}
