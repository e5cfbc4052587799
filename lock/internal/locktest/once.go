package locktest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// Every Locker sees the record of runs. It stays when the lock is free, and only the current
// lease can write it.
func testOnceKeepsARecord(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	if all, err := lock.Runs(t.Context(), a, "job"); err != nil || len(all) > 0 {
		t.Errorf("Runs before the first: %+v, %v", all, err)
	}
	boom := errors.New("boom")
	began := time.Now()
	calls := 0
	once := func(l lock.Locker, key string, err error, o lock.OnceOptions) lock.Run {
		t.Helper()
		r, got := lock.Once(t.Context(), l, "job", lock.KeySchedule(key), func(ctx context.Context, lease *lock.Lease, run lock.Run) error {
			calls++
			if run.Fence != lease.Fence() || run.Owner != lease.Owner() || ctx.Err() != nil {
				t.Errorf("run %+v under %v with fence %d", run, lease.Owner(), lease.Fence())
			}
			if all, err := lock.Runs(t.Context(), b, "job"); err != nil || len(all) == 0 || all[len(all)-1].Outcome != lock.OutcomeRunning {
				t.Errorf("Runs while it runs: %+v, %v", all, err)
			}
			return err
		}, &o)
		if r.Here && !errors.Is(got, err) || !r.Here && got != nil {
			t.Errorf("key %.20s: %+v, %v", key, r, got)
		}
		return r
	}
	long := strings.Repeat("Ж", lock.MaxName/2)
	first := once(a, "1", nil, lock.OnceOptions{})
	if !first.First || !first.Here {
		t.Errorf("the first: %+v", first)
	}
	if at := first.Start.Sub(began); at < -patience || at > patience || first.End.Before(first.Start) {
		t.Errorf("ran from %v to %v, called at %v", first.Start, first.End, began)
	}
	once(b, "1", nil, lock.OnceOptions{})
	once(b, "2", boom, lock.OnceOptions{})
	once(a, "2", nil, lock.OnceOptions{})
	once(a, "2", nil, lock.OnceOptions{Retry: 1})
	for range 2 { // 16 of them fill the record with long texts
		for i := range 16 {
			once(b, long[2*i+2:]+"-", nil, lock.OnceOptions{})
		}
	}
	all, err := lock.Runs(t.Context(), a, "job")
	if calls != 3+16 || err != nil || len(all) != 16 || all[15].Tick.Key != long[32:]+"-" || all[15].Outcome != lock.OutcomeDone {
		t.Errorf("%d calls, Runs: %d, %v", calls, len(all), err)
	}
	if all, err := lock.Runs(t.Context(), a, "other"); err != nil || len(all) > 0 {
		t.Errorf("Runs of another name: %+v, %v", all, err)
	}
}

// A lease that has ended does not change the record any more, even if the next holder has not
// changed it yet.
func testOnceAfterTheLease(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	r, err := lock.Once(t.Context(), a, "job", lock.KeySchedule("1"), func(_ context.Context, lease *lock.Lease, _ lock.Run) error {
		if lease.Deadline().IsZero() {
			return nil
		}
		testenv.WantError(t, "Close", a.Close(), nil)
		next := acquire(t, b, "job")
		t.Cleanup(func() { release(t, next) })
		return nil
	}, &lock.OnceOptions{Acquire: lock.AcquireOptions{TTL: lock.MinTTL * 5}})
	if err == nil && r.Here && r.Outcome == lock.OutcomeDone { // without a deadline
		return
	}
	if !errors.Is(err, lock.ErrUnrecorded) || !r.Here {
		t.Errorf("Once that lost the lock: %+v, %v; want ErrUnrecorded", r, err)
	}
	if all, err := lock.Runs(t.Context(), b, "job"); err != nil || len(all) != 1 || all[0].Outcome != lock.OutcomeDied {
		t.Errorf("Runs: %+v, %v; want one that died", all, err)
	}
}

// crontab makes the calls of several hosts with different clocks for the same job.
type crontab struct {
	lockers []lock.Locker
	period  time.Duration
	ticks   int
	job     time.Duration

	mu     sync.Mutex
	begun  map[string]int // how often each tick was begun
	called map[string]int // how many calls were for each tick
}

func (c *crontab) call(t testing.TB, l lock.Locker, name string) {
	r, err := lock.Once(t.Context(), l, name, lock.EverySchedule(c.period), func(_ context.Context, _ *lock.Lease, run lock.Run) error {
		c.mu.Lock()
		c.begun[run.Tick.String()]++
		c.mu.Unlock()
		time.Sleep(c.job)
		return nil
	}, nil)
	// On a machine that is too slow a call may come between two ticks, or the lock after
	// 15 of them.
	if errors.Is(err, lock.ErrBetween) || errors.Is(err, lock.ErrTooLate) {
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called[r.Tick.String()]++
}

// Three hosts whose clocks differ by a third of the period run each tick once, however
// long the job is. A tick is lost if calls were for it and none ran it; that the calls of a
// tick are for the same one is tested with a clock that does not depend on the machine.
func testOncePerTick(t testing.TB, open func() lock.Locker) {
	const least, most = 200 * time.Millisecond, time.Second
	all := 6 * time.Second
	if testing.Short() {
		all = 2 * time.Second
	}
	lockers := []lock.Locker{open(), open(), open()}
	began := time.Now()
	for _, l := range lockers {
		testenv.Must(lock.Once(t.Context(), l, "job", lock.KeySchedule("k"), func(context.Context, *lock.Lease, lock.Run) error { return nil }, nil))(t)
	}
	// The slower the engine on this machine is, the longer the period.
	period := min(max(10*time.Since(began), least), most).Round(10 * time.Millisecond)
	n := int(all / period)
	tabs := map[string]*crontab{
		"short": {ticks: n, job: time.Millisecond},
		"third": {ticks: n, job: period / 3},
		"long":  {ticks: n / 2, job: 3 * period / 2},
	}
	var calls sync.WaitGroup
	first := time.Now().Truncate(period).Add(2 * period)
	for name, c := range tabs {
		c.lockers, c.period = lockers, period
		c.begun, c.called = make(map[string]int), make(map[string]int)
		for host, ahead := range []time.Duration{0, -period / 3, period / 3} {
			for i := range c.ticks {
				calls.Go(func() {
					time.Sleep(time.Until(first.Add(time.Duration(i)*period - ahead)))
					c.call(t, lockers[host], name)
				})
			}
		}
	}
	calls.Wait()
	for name, c := range tabs {
		for tick, n := range c.begun {
			if n != 1 {
				t.Errorf("%s: tick %s was begun %d times", name, tick, n)
			}
		}
		for tick, n := range c.called {
			if c.begun[tick] == 0 {
				t.Errorf("%s: tick %s was lost by %d calls", name, tick, n)
			}
		}
		if len(c.begun) < c.ticks/4 {
			t.Errorf("%s: %d ticks of %d say too little", name, len(c.begun), c.ticks)
		}
		all, err := lock.Runs(t.Context(), lockers[0], name)
		if err != nil || len(all) < min(len(c.begun), 16) || slices.ContainsFunc(all, func(r lock.Run) bool {
			return r.Outcome != lock.OutcomeDone && r.Outcome != lock.OutcomeMissed && r.Outcome != lock.OutcomeDue
		}) {
			t.Errorf("%s: Runs: %+v, %v", name, all, err)
		}
	}
}
