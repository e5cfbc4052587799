package redislock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// The process of the first waiter is dead, and the waiter that was told to ask after
// its reservation gives up. Then another one is told, for nobody else would ask before
// its next poll.
func TestWaiterThatGivesUpPassesItsHintOn(t *testing.T) {
	server := testenv.Redis(t)
	open := func() *Locker {
		l, err := Open(t.Context(), server.URL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	holder, dead, leaving, staying := open(), open(), open(), open()
	lease, err := holder.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	waiters(t, dead, 1)
	stays := waiters(t, staying, 1)[0]
	leaves := waiters(t, leaving, 1)[0] // the last heard of, so it is told
	for _, r := range []*request{stays, leaves} {
		if err := r.l.listen(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.l.queue.join(r)
	}
	// toldLater returns once a waiter was told to ask after the reservation.
	toldLater := func(who string, r *request) {
		t.Helper()
		testenv.Await(t, "hint to the waiter that "+who, func() error {
			r.l.queue.mu.Lock()
			defer r.l.queue.mu.Unlock()
			if r.later == nil {
				return errors.New("none")
			}
			return nil
		})
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	toldLater("leaves", leaves)
	if err := leaves.l.calls.Begin(); err != nil {
		t.Fatal(err)
	}
	leaves.giveUp()
	leaves.l.calls.Done()
	toldLater("stays", stays)
	if s := server.CLI("ZRANGE", stays.keys[1], "0", "-1"); strings.Contains(s, leaves.text) {
		t.Errorf("queue %s has the waiter that left", fmt.Sprintf("%q", s))
	}
}

// Messages from before a subscription are lost, so all waiters ask when it is made.
func TestNewSubscriptionLetsWaitersAsk(t *testing.T) {
	l, err := Open(t.Context(), testenv.Redis(t).URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := &request{l: l, text: "waiter"}
	l.queue.join(r)
	if err := l.listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.wake:
	case <-time.After(10 * time.Second):
		t.Error("the waiter was not told to ask")
	}
}

// lossy is a driver that counts its requests and fails all of them.
type lossy struct {
	Driver
	requests atomic.Int32
}

func (d *lossy) EvalSHA(context.Context, string, []string, []string) (string, error) {
	d.requests.Add(1)
	return "", errors.New("no reply")
}

func (d *lossy) Publish(context.Context, string, string) error { return errors.New("no reply") }

func (d *lossy) Info(context.Context) map[string]string { return nil }

// A call that gives up may have got the lock by a request whose reply was lost. It asks
// Redis a few times to take that back, and once where Close waits for it.
func TestCallThatGivesUpAsksAFewTimes(t *testing.T) {
	for closed, want := range map[bool]int32{false: 3, true: 1} {
		synctest.Test(t, func(t *testing.T) {
			d := new(lossy)
			l, err := NewWithDriver(t.Context(), d, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.begin("job", nil)
			if err != nil {
				t.Fatal(err)
			}
			if closed {
				go l.Close()
				synctest.Wait()
			}
			r.giveUp()
			l.calls.Done()
			time.Sleep(time.Minute)
			if got := d.requests.Load(); got != want {
				t.Errorf("closed %v: %d requests, want %d", closed, got, want)
			}
			l.Close()
		})
	}
}
