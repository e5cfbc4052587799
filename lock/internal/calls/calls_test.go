package calls_test

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
)

// Close ends Closing at once, waits for the calls under way and lets no others begin.
// opened returns Calls with the defaults.
func opened(t *testing.T) *calls.Calls {
	t.Helper()
	c, err := calls.New(calls.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := opened(t)
		if err := c.Begin(); err != nil {
			t.Fatal(err)
		}
		if err := c.Closing.Err(); err != nil {
			t.Errorf("Closing has ended before Close: %v", err)
		}
		goOn := make(chan struct{})
		c.Go(func() { <-goOn })
		firsts := make(chan bool, 2)
		for range cap(firsts) {
			go func() { firsts <- c.Close() }()
			synctest.Wait()
		}
		if c.Closing.Err() == nil {
			t.Error("Closing goes on after Close")
		}
		if err := c.Begin(); !errors.Is(err, lock.ErrClosed) {
			t.Errorf("Begin after Close: %v, want ErrClosed", err)
		}
		c.Done()
		synctest.Wait()
		if len(firsts) > 0 {
			t.Error("Close did not wait for a function")
		}
		close(goOn)
		if a, b := <-firsts, <-firsts; a == b {
			t.Errorf("first: %v and %v, want true once", a, b)
		}
	})
}

// Close waits for a call that ends without Go.
func TestCloseWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := opened(t)
		if err := c.Begin(); err != nil {
			t.Fatal(err)
		}
		closed := make(chan bool, 1)
		go func() { closed <- c.Close() }()
		synctest.Wait()
		if len(closed) > 0 {
			t.Error("Close did not wait")
		}
		c.Done()
		synctest.Wait()
		if len(closed) == 0 {
			t.Error("Close did not end with the last call")
		}
	})
}

// A call that gets no answer reports that once, after [calls.UnansweredAfter], and nothing
// once the answer has come.
func TestAwait(t *testing.T) {
	for after, want := range map[time.Duration]int{calls.UnansweredAfter - 1: 0, calls.UnansweredAfter + 1: 1, time.Hour: 1} {
		synctest.Test(t, func(t *testing.T) {
			told := 0
			call := calls.Call{Events: func(e lock.Event) {
				if told++; e.Kind != lock.EventUnanswered || !errors.Is(e.Err, os.ErrDeadlineExceeded) {
					t.Errorf("event %s: %v", e.Kind, e.Err)
				}
			}}
			answered := call.Await()
			time.Sleep(after)
			if late := answered(); late != (want > 0) || told != want {
				t.Errorf("after %v: late %v, %d events; want %d", after, late, told, want)
			}
			time.Sleep(time.Hour)
			if told != want {
				t.Errorf("%d events after the answer", told-want)
			}
		})
	}
}

// An answer that comes while the silence is being reported waits for that: what it leads to
// is reported later.
func TestAwaitWhileTelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		call := calls.Call{Events: func(lock.Event) {
			time.Sleep(time.Minute)
			ended = true
		}}
		answered := call.Await()
		time.Sleep(calls.UnansweredAfter + time.Second)
		if late := answered(); !late || !ended {
			t.Errorf("late %v, and the function for the event has returned: %v", late, ended)
		}
	})
}
