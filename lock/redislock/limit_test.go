package redislock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// At its deadline a request may not be sent again, and the connections end that were
// opened before it began; later those that were opened meanwhile.
func TestLimitOfARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 300 * time.Millisecond
		var mu sync.Mutex
		var dropped []time.Duration // before when: since the request began
		began := time.Now()
		l := &Locker{reset: func(before time.Time) {
			mu.Lock()
			defer mu.Unlock()
			dropped = append(dropped, before.Sub(began))
		}}
		pass := func(d time.Duration, want int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(dropped) != want {
				t.Fatalf("%v after the beginning: dropped %v, want %d times", time.Since(began), dropped, want)
			}
		}
		c := l.limit(t.Context(), began, limit)
		if at, ok := c.Deadline(); !ok || at.Sub(began) != limit {
			t.Errorf("deadline after %v, want %v", at.Sub(began), limit)
		}
		pass(limit-1, 0)
		if err := c.Err(); err != nil {
			t.Errorf("before the deadline: %v", err)
		}
		pass(1, 0)
		if err := c.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("at the deadline: %v", err)
		}
		pass(limit/15, 1)
		pass(maxTry, 2)
		if dropped[0] != 0 || dropped[1] < limit || dropped[1] > limit+limit/15 {
			t.Errorf("connections dropped that were opened before %v, want 0 and the first drop", dropped)
		}
		c.cancel()
		c.drop() // it was under way
		pass(time.Minute, 2)
	})
}

// The deadline and the end of the caller's context count where they are earlier.
func TestLimitWithinAContext(t *testing.T) {
	for _, reset := range []func(time.Time){nil, func(time.Time) {}} {
		synctest.Test(t, func(t *testing.T) {
			l := &Locker{reset: reset}
			parent, cancel := context.WithTimeout(t.Context(), time.Second)
			for _, limit := range []time.Duration{time.Second / 2, time.Minute} {
				c := l.limit(parent, time.Now(), limit)
				if at, ok := c.Deadline(); !ok || time.Until(at) != min(limit, time.Second) {
					t.Errorf("limit %v: deadline in %v", limit, time.Until(at))
				}
				c.cancel()
			}
			c := l.limit(parent, time.Now(), time.Minute)
			defer c.cancel()
			cancel()
			<-c.Done()
			if err := c.Err(); !errors.Is(err, context.Canceled) {
				t.Errorf("after the end of the parent: %v", err)
			}
		})
	}
}
