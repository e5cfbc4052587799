package lock_test

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

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// hosts are several crontabs that call Once for the same job.
type hosts struct {
	backend  *backend
	schedule lock.Schedule
	period   time.Duration
	clocks   []time.Duration // by how much each is ahead
	job      time.Duration
	first    time.Duration // for which the first run takes longer
	options  lock.OnceOptions
	between  func(n int) // what happens between the calls for tick n and those for the next

	mu    sync.Mutex
	begun []string
	errs  []error
}

// run lets the crontabs run for n ticks and returns which ticks were run.
func (h *hosts) run(t *testing.T, n int) []string {
	first := time.Now().UTC().Truncate(h.period).Add(h.period)
	var calls sync.WaitGroup
	for i := range n {
		for _, ahead := range h.clocks {
			calls.Go(func() {
				time.Sleep(time.Until(first.Add(time.Duration(i)*h.period - ahead)))
				_, err := lock.Once(t.Context(), h.backend, "job", h.schedule, h.work, &h.options)
				if err != nil {
					h.mu.Lock()
					defer h.mu.Unlock()
					h.errs = append(h.errs, err)
				}
			})
		}
		if h.between != nil {
			calls.Go(func() {
				time.Sleep(time.Until(first.Add(time.Duration(i)*h.period + h.period/2 - h.clocks[0])))
				h.between(i)
			})
		}
	}
	calls.Wait()
	slices.Sort(h.begun)
	return h.begun
}

func (h *hosts) work(_ context.Context, _ *lock.Lease, run lock.Run) error {
	h.mu.Lock()
	h.begun = append(h.begun, run.Tick.String())
	job := h.job
	if len(h.begun) == 1 {
		job += h.first
	}
	h.mu.Unlock()
	time.Sleep(job)
	return nil
}

// ticks returns the n ticks that [hosts.run] would run if it began now.
func (h *hosts) ticks(n int) []string {
	var all []string
	for t := time.Now(); len(all) < n; {
		t = h.schedule.Next(t)
		all = append(all, t.Format(time.RFC3339))
	}
	return all
}

const tenMinutes = 10 * time.Minute

var third = tenMinutes / 3

// Three crontabs whose clocks are right, behind and ahead by a third of the period run
// each tick once, however short or long the job is: also one that takes longer than the
// period, which is then late. So they do if all three clocks differ from the backend's, and
// if the record is lost between two ticks.
func TestOncePerTick(t *testing.T) {
	testenv.WithoutRace(t) // whose runtime crashes here, in simulated time
	for _, test := range []struct {
		schedule string
		job      time.Duration
		clocks   []time.Duration
		lose     bool
	}{
		{"10m", 100 * time.Millisecond, []time.Duration{0, -third, third}, true},
		{"10m", third, []time.Duration{0, -third, third}, true},
		{"10m", third, []time.Duration{third, third, third}, true},
		{"10m", third, []time.Duration{-third, -third, -third}, true},
		{"10m", 3 * tenMinutes / 2, []time.Duration{0, -third, third}, false},
		{"*/10 * * * *", 100 * time.Millisecond, []time.Duration{0, -third, third}, true},
		{"CRON_TZ=Asia/Kolkata */10 * * * *", third, []time.Duration{0, -2 * time.Second, 2 * time.Second}, true},
	} {
		t.Run(fmt.Sprint(test.schedule, test.job, test.clocks), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := openBackend(&backend{})
				h := &hosts{backend: p, schedule: parse(t, test.schedule), period: tenMinutes, clocks: test.clocks, job: test.job}
				if test.lose {
					h.between = func(n int) {
						if n%10 == 4 {
							p.clear(true)
						}
					}
				}
				want := h.ticks(30)
				if got := h.run(t, 30); !slices.Equal(got, want) || len(h.errs) > 0 {
					t.Errorf("ran %v\nwant %v\nerrors %v", got, want, h.errs)
				}
			})
		})
	}
}

// A tick is due from its time on, while a call would be for it and nobody has begun it. Then it
// is missed.
func TestRunsShowsWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it begins at midnight
		p, s := openBackend(&backend{}), lock.EverySchedule(time.Hour)
		if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
			t.Fatal(err)
		}
		const first, next = "2000-01-01T00:00:00Z done code 0; ", "2000-01-01T01:00:00Z "
		midnight := time.Now().Truncate(time.Hour)
		for _, test := range []struct {
			at   time.Duration
			want string
		}{
			{2 * time.Second, first},
			{time.Hour - 1, first},
			{time.Hour, first + next + "due; "},
			{time.Hour + 24*time.Minute, first + next + "due; "},
			{time.Hour + 36*time.Minute, first + next + "missed; "},
		} {
			time.Sleep(time.Until(midnight.Add(test.at)))
			if got := runs(t, p); got != test.want {
				t.Errorf("after %v: %s, want %s", test.at, got, test.want)
			}
		}
		time.Sleep(24 * time.Minute)
		if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
			t.Fatal(err)
		}
		if got, want := runs(t, p), first+next+"missed; 2000-01-01T02:00:00Z done code 0; "; got != want {
			t.Errorf("after a run: %s, want %s", got, want)
		}
		if _, err := once(t, p, lock.KeySchedule("x"), nil, lock.OnceOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if got := runs(t, p); strings.Contains(got, "due") { // a key is never due
			t.Errorf("after a key: %s", got)
		}
	})
}

// Ticks at which no host called are missed. They are run only with CatchUp, the last
// ones, oldest first.
func TestOnceCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it begins at midnight
		p, s := openBackend(&backend{}), lock.EverySchedule(time.Hour)
		for _, test := range []struct {
			wait    time.Duration
			options lock.OnceOptions
			want    string
		}{
			{0, lock.OnceOptions{}, "2000-01-01T00:00:00Z done code 0; "},
			{3 * time.Hour, lock.OnceOptions{}, "2000-01-01T00:00:00Z done code 0; 2000-01-01T01:00:00Z missed; 2000-01-01T02:00:00Z missed; 2000-01-01T03:00:00Z done code 0; "},
			{2 * time.Hour, lock.OnceOptions{CatchUp: 2}, "2000-01-01T00:00:00Z done code 0; 2000-01-01T01:00:00Z missed; 2000-01-01T02:00:00Z done code 0; 2000-01-01T03:00:00Z done code 0; 2000-01-01T04:00:00Z done code 0; 2000-01-01T05:00:00Z done code 0; "},
		} {
			time.Sleep(test.wait)
			if _, err := once(t, p, s, nil, test.options); err != nil {
				t.Error(err)
			}
			if got := runs(t, p); got != test.want {
				t.Errorf("runs\n%s, want\n%s", got, test.want)
			}
		}
		time.Sleep(1000 * time.Hour)
		all, err := lock.Runs(t.Context(), p, "job")
		if err != nil || len(all) != 5+16+1 || all[5].Outcome != lock.OutcomeMissed || all[5+16].Outcome != lock.OutcomeDue {
			t.Errorf("%d runs, %v; want 5, the last 16 that were missed, and the one that is due", len(all), err)
		}
		for range 30 { // the record stays small
			time.Sleep(time.Hour)
			if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
				t.Error(err)
			}
		}
		if all, err := lock.Runs(t.Context(), p, "job"); err != nil || len(all) != 16 {
			t.Errorf("%d runs, %v; want 16", len(all), err)
		}
		p.skew = -20 * time.Hour // nobody can say whether these ticks have run
		if r, err := once(t, p, s, nil, lock.OnceOptions{}); !errors.Is(err, lock.ErrTooLate) || r.Here {
			t.Errorf("after the clock was set back: %+v, %v; want ErrTooLate", r, err)
		}
		if got := runs(t, p); strings.Contains(got, "due") {
			t.Errorf("after the clock was set back a tick is due: %s", got)
		}
		p.skew = -10 * time.Hour
		if r, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil || r.Here {
			t.Errorf("after the clock was set back less: %+v, %v; want one that has run", r, err)
		}
	})
}

// A call that may not wait leaves alone a tick that is due while an earlier one is run.
func TestOnceDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openBackend(&backend{})
		h := &hosts{backend: p, schedule: lock.EverySchedule(tenMinutes), period: tenMinutes, clocks: []time.Duration{0, time.Second}, job: 15 * time.Minute}
		h.options.Wait = -1
		want := []string{"2000-01-01T00:10:00Z", "2000-01-01T00:30:00Z", "2000-01-01T00:50:00Z"}
		if got := h.run(t, 5); !slices.Equal(got, want) || len(h.errs) != 4 || !errors.Is(errors.Join(h.errs...), lock.ErrHeld) {
			t.Errorf("ran %v, want %v; errors %v", got, want, h.errs)
		}
	})
}

// A job that hangs does not pile up calls for ever.
func TestOnceGivesUpWhereTheRecordEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openBackend(&backend{})
		if _, err := p.TryAcquire(t.Context(), "job", nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err := once(t, p, lock.EverySchedule(tenMinutes), nil, lock.OnceOptions{})
		if took := time.Since(began); !errors.Is(err, lock.ErrTooLate) || took < 15*tenMinutes || took > 15*tenMinutes+time.Minute {
			t.Errorf("%v after %v, want ErrTooLate after 15 periods", err, took)
		}
	})
}

// A tick whose calls have been told that it is too late is not run by a later call.
func TestOnceLeavesOutWhatIsTooLate(t *testing.T) {
	testenv.WithoutRace(t) // whose runtime crashes here, in simulated time
	synctest.Test(t, func(t *testing.T) {
		const stuck, ticks = 32, 40
		h := &hosts{backend: openBackend(&backend{}), schedule: lock.EverySchedule(tenMinutes), period: tenMinutes, clocks: []time.Duration{0, time.Second}}
		want := h.ticks(ticks)
		h.first = (stuck+1)*tenMinutes - tenMinutes/2
		want = slices.Delete(want, 1, 1+stuck-15)
		if got := h.run(t, ticks); !slices.Equal(got, want) || !errors.Is(errors.Join(h.errs...), lock.ErrTooLate) {
			t.Errorf("ran %v, want %v; errors %v", got, want, h.errs)
		}
	})
}

// Ticks at which no host called after a holder had died are missed, and not late.
func TestOnceAfterADeathAndAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := openBackend(&backend{}), lock.EverySchedule(time.Hour)
		began := time.Now()
		if _, err := lock.Once(t.Context(), p, "job", s, func(context.Context, *lock.Lease, lock.Run) error {
			p.clear(false)
			return nil
		}, nil); !errors.Is(err, lock.ErrUnrecorded) || !errors.Is(err, lock.ErrLost) || time.Since(began) > 0 {
			t.Errorf("%v after %v, want ErrUnrecorded and ErrLost at once", err, time.Since(began))
		}
		for _, wait := range []time.Duration{5 * time.Hour, time.Hour} {
			time.Sleep(wait)
			if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
				t.Error(err)
			}
		}
		want := "2000-01-01T00:00:00Z died; 2000-01-01T01:00:00Z missed; 2000-01-01T02:00:00Z missed; 2000-01-01T03:00:00Z missed; " +
			"2000-01-01T04:00:00Z missed; 2000-01-01T05:00:00Z done code 0; 2000-01-01T06:00:00Z done code 0; "
		if got := runs(t, p); got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
	})
}

// A tick that was due while an earlier one waited for the lock is missed, and not late.
func TestOnceWaitingIsNotRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := openBackend(&backend{}), lock.EverySchedule(time.Hour)
		if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
			t.Error(err)
		}
		lease, err := p.TryAcquire(t.Context(), "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(3*time.Hour+time.Minute, func() { lease.Release() })
		for range 2 {
			time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)))
			if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
				t.Error(err)
			}
		}
		want := "2000-01-01T00:00:00Z done code 0; 2000-01-01T01:00:00Z done code 0; 2000-01-01T02:00:00Z missed; 2000-01-01T03:00:00Z missed; 2000-01-01T04:00:00Z done code 0; "
		if got := runs(t, p); got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
	})
}

// The clock of a caller may be wrong by a third of the time between two ticks, and by an
// hour at most.
func TestOnceWithAWrongClock(t *testing.T) {
	for _, period := range []time.Duration{time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 24 * time.Hour, 240 * time.Hour} {
		wrong := min(period/3, time.Hour)
		for _, ahead := range []time.Duration{-wrong, wrong} {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Now().Truncate(period).Add(period)))
				r, err := once(t, openBackend(&backend{skew: -ahead}), lock.EverySchedule(period), nil, lock.OnceOptions{})
				if err != nil || !r.Tick.Time.Equal(time.Now().Truncate(period)) {
					t.Errorf("every %v, wrong by %v: tick %v, %v", period, ahead, r.Tick, err)
				}
				if time.Until(r.Start) != -time.Second-ahead || r.End.Sub(r.Start) != time.Second {
					t.Errorf("every %v, wrong by %v: ran from %v to %v; want the clock of the backend", period, ahead, r.Start, r.End)
				}
			})
		}
	}
}
