// Go 1.24, the oldest that go.mod allows, has no testing/synctest: there these tests are left out.

//go:build go1.25

package objectid

import (
	"testing"
	"testing/synctest"
	"time"
)

// These tests look inside because no door from outside makes the system's clock
// step while the generator reads it as rarely as it does by default.

// stepping returns a generator that reads, as seldom as the system's clock, the
// clock of the synctest bubble moved by *step.
func stepping(t *testing.T, layout Layout, step *time.Duration) *Generator {
	t.Helper()
	g, err := NewGenerator(&Options{Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	g.now = func() time.Time { return time.Now().Add(*step) }
	return g
}

func TestStepIsSeenWithin100ms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var step time.Duration
		g := stepping(t, Modern, &step)
		g.New()
		step = time.Hour
		time.Sleep(maxAge)
		if got, want := g.New().Time(), time.Now().Add(step).Truncate(time.Second); !got.Equal(want) {
			t.Errorf("%v after a step of the clock an id carries %v, want %v", maxAge, got, want)
		}
		if ahead := g.Lead(); ahead != 0 {
			t.Errorf("after a step forward Lead() = %v", ahead)
		}
		last := g.New()
		step = -time.Hour
		time.Sleep(maxAge)
		id := g.New()
		if id.Compare(last) <= 0 || !id.Time().Equal(last.Time()) {
			t.Errorf("after a step back %v (%v) follows %v (%v)", id, id.Time(), last, last.Time())
		}
		if ahead := g.Lead(); ahead != 2*time.Hour {
			t.Errorf("after a step back Lead() = %v, want 2h", ahead)
		}
		time.Sleep(2*time.Hour + time.Second)
		if ahead := g.Lead(); ahead != 0 {
			t.Errorf("after the clock has caught up Lead() = %v", ahead)
		}
	})
}

// Each id is asked for a whisker after a second began.
func TestNewSecondIsSeenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := 123456789 * time.Nanosecond // the seconds do not begin where the bubble's do
		g := stepping(t, Modern, &step)
		for range 100 {
			g.New()
			now := time.Now().Add(step)
			time.Sleep(now.Truncate(time.Second).Add(time.Second).Sub(now))
			if got, want := g.New().Time(), time.Now().Add(step); !got.Equal(want) {
				t.Fatalf("asked for at %v, an id carries %v", want, got)
			}
		}
	})
}

// The clock is read no more often than the package comment says.
func TestClockIsReadSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		g, err := NewGenerator(nil)
		if err != nil {
			t.Fatal(err)
		}
		g.now = func() time.Time { reads++; return time.Now() }
		for range 10_000 {
			g.New()
			time.Sleep(100 * time.Microsecond)
		}
		if reads > 11 {
			t.Errorf("the clock was read %d times in a second", reads)
		}
	})
}

// Two copies of one state repeat each other's ids while their clocks are as they were,
// and no more once the clock of either was set to the time at which it was resumed.
func TestCopiesOfOneState(t *testing.T) {
	for _, layout := range []Layout{Modern, Java} {
		synctest.Test(t, func(t *testing.T) {
			var step, stepOfCopy time.Duration
			g := stepping(t, layout, &step)
			g.New()
			c := copyOf(g)
			c.now = func() time.Time { return time.Now().Add(stepOfCopy) }
			if a, b := g.New(), c.New(); a != b {
				t.Fatalf("%v: the copies continue with %v and %v", layout, a, b)
			}
			last := c.New()
			g.New()
			stepOfCopy = 3 * time.Second // resumed that much later, and told so
			time.Sleep(maxAge)
			seen := map[[4]byte]bool{}
			for range 1000 {
				a, b := g.New(), c.New()
				if [4]byte(a[4:]) == [4]byte(b[4:]) {
					t.Fatalf("%v: the copies have one process value: %v, %v", layout, a, b)
				}
				if b.Compare(last) <= 0 {
					t.Fatalf("%v: %v after %v", layout, b, last)
				}
				last = b
				seen[[4]byte(b[4:])] = true
			}
			if len(seen) != 1 {
				t.Errorf("%v: one jump of the clock gave %d process values", layout, len(seen))
			}
		})
	}
}

// Only a jump forward of more than a second changes the process value: clocks are
// corrected all the time, a little or gradually.
func TestSmallStepsAreNoJumps(t *testing.T) {
	for _, c := range []struct {
		name  string
		step  time.Duration
		sleep time.Duration
		want  bool
	}{
		{"a second", time.Second, maxAge, false},
		{"a second and what is gradual", time.Second + maxAge/1000, maxAge, false},
		{"more than a second", time.Second + maxAge/1000 + 1, maxAge, true},
		{"back by an hour", -time.Hour, maxAge, false},
		{"gradually over a day", 80 * time.Second, 24 * time.Hour, false},
		{"more than that", 90 * time.Second, 24 * time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var step time.Duration
			g := stepping(t, Modern, &step)
			before := g.New()
			for range 3 { // each step is measured from the one before
				step += c.step
				time.Sleep(c.sleep)
				after := g.New()
				if ([4]byte(after[4:]) != [4]byte(before[4:])) != c.want {
					t.Errorf("%s: %v after %v", c.name, after, before)
				}
				before = after
			}
		})
	}
}

// A goroutine that waits between the readings of the two clocks sees no jump.
func TestWaitIsNoJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var step, wait time.Duration
		g := stepping(t, Modern, &step)
		read := g.now
		g.now = func() time.Time { time.Sleep(wait); return read() }
		before := g.New()
		for _, wait = range []time.Duration{5 * time.Second, 0, 5 * time.Second, 0} {
			time.Sleep(maxAge)
			if after := g.New(); [5]byte(after[4:]) != [5]byte(before[4:]) {
				t.Fatalf("%v after %v", after, before)
			}
		}
	})
}

// After a resume the monotonic clock has stood still: the second is right within
// 100 ms of running time.
func TestResumeAfterSuspend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var step time.Duration
		g := stepping(t, Modern, &step)
		before := g.New()
		step = 8 * time.Hour // of suspension
		time.Sleep(maxAge)
		id := g.New()
		if want := time.Now().Add(step).Truncate(time.Second); !id.Time().Equal(want) || id.Compare(before) <= 0 {
			t.Errorf("100 ms after the resume: %v (%v), want %v", id, id.Time(), want)
		}
		if [5]byte(id[4:]) == [5]byte(before[4:]) {
			t.Errorf("%v has the process value of before the suspension", id)
		}
	})
}
