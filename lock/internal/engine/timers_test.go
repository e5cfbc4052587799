package engine_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
)

// calls records when functions were called.
type calls struct {
	began time.Time
	mu    sync.Mutex
	at    map[string][]time.Duration
}

func newCalls() *calls { return &calls{began: time.Now(), at: make(map[string][]time.Duration)} }

// task is a function as a task.
type task func()

func (f task) Run() { f() }

func (c *calls) to(name string) task {
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.at[name] = append(c.at[name], time.Since(c.began))
	}
}

// wasOnce checks that a function was called once, after d or up to a sixteenth
// of d earlier.
func (c *calls) wasOnce(t *testing.T, name string, d time.Duration) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.at[name]; len(at) != 1 || at[0] > d || at[0] < d-d/16 {
		t.Errorf("%s was called after %v, want once after %v", name, at, d)
	}
}

// Functions run at their times, whatever the order in which they were set.
func TestTimers(t *testing.T) {
	delays := []time.Duration{time.Second, 10 * time.Second, time.Millisecond, 3 * time.Second, 10 * time.Second, 0, 15}
	for _, reverse := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(12_345_678) // away from a round time
			var timers engine.Timers
			c := newCalls()
			all := make([]engine.Timer, len(delays))
			order := slices.Clone(delays)
			if reverse {
				slices.Reverse(order)
			}
			for i, d := range order {
				timers.Set(&all[i], time.Now(), d, c.to(string(rune('a'+i))))
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			for i, d := range order {
				c.wasOnce(t, string(rune('a'+i)), d)
			}
		})
	}
}

// A timer that is stopped calls nothing; one that is set again, even by its own
// function, counts from then.
func TestTimersStopAndSetAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timers engine.Timers
		c := newCalls()
		var stopped, moved, unset, again engine.Timer
		timers.Stop(&unset)
		timers.Set(&stopped, time.Now(), time.Second, c.to("stopped"))
		timers.Set(&moved, time.Now(), time.Second, c.to("moved early"))
		timers.Set(&again, time.Now(), 2*time.Second, task(func() {
			c.to("first")()
			timers.Set(&again, time.Now(), 2*time.Second, c.to("second"))
		}))
		time.Sleep(time.Second / 2)
		timers.Stop(&stopped)
		timers.Stop(&stopped)
		timers.Set(&moved, time.Now(), 8*time.Second, c.to("moved"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(c.at["stopped"])+len(c.at["moved early"]) > 0 {
			t.Errorf("called: %v", c.at)
		}
		if at := c.at["moved"]; len(at) != 1 || at[0] < 8*time.Second || at[0] > 8*time.Second+time.Second/2 {
			t.Errorf("moved: called after %v, want once after 8.5s", at)
		}
		c.wasOnce(t, "first", 2*time.Second)
		c.wasOnce(t, "second", 4*time.Second)
	})
}

// Timers that are due at about the same time are served together.
func TestTimersAreServedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timers engine.Timers
		c := newCalls()
		const n = 100
		all := make([]engine.Timer, n)
		for i := range all {
			timers.Set(&all[i], time.Now(), 16*time.Second, c.to("all"))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		slices.Sort(c.at["all"])
		if at := slices.Compact(slices.Clone(c.at["all"])); len(c.at["all"]) != n || len(at) > 2 {
			t.Errorf("%d calls, at %v; want all within two moments, as they were set within a second", len(c.at["all"]), at)
		}
	})
}
