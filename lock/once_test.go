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
)

func parse(t *testing.T, text string) lock.Schedule {
	t.Helper()
	s, err := lock.ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exit is an error with an exit code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }
func (e exit) ExitCode() int { return int(e) }

// once calls Once with a function that takes a second and returns err.
func once(t *testing.T, p *backend, s lock.Schedule, err error, o lock.OnceOptions) (lock.Run, error) {
	t.Helper()
	return lock.Once(t.Context(), p, "job", s, func(context.Context, *lock.Lease, lock.Run) error {
		time.Sleep(time.Second)
		return err
	}, &o)
}

// runs returns what Runs shows, in one line.
func runs(t *testing.T, p *backend) string {
	t.Helper()
	all, err := lock.Runs(t.Context(), p, "job")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, r := range all {
		fmt.Fprintf(&text, "%s %s", r.Tick, r.Outcome)
		if r.Attempt > 1 {
			fmt.Fprintf(&text, " %d", r.Attempt)
		}
		if r.ExitCode != nil {
			fmt.Fprintf(&text, " code %d", *r.ExitCode)
		}
		text.WriteString("; ")
	}
	return text.String()
}

// A tick that failed is begun again only with Retry, and only so often; one that is done
// never.
func TestOnceRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, key := openBackend(&backend{}), lock.KeySchedule("invoice 7")
		if r, err := once(t, p, key, exit(3), lock.OnceOptions{}); !errors.Is(err, exit(3)) || err.Error() != "exit 3" || !r.Here || !r.First || *r.ExitCode != 3 {
			t.Errorf("the first: %+v, %v", r, err)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{}); err != nil || r.Here || r.Outcome != lock.OutcomeFailed {
			t.Errorf("without Retry: %+v, %v", r, err)
		}
		if r, err := once(t, p, key, errors.New("boom"), lock.OnceOptions{Retry: 2}); err == nil || r.First || r.Attempt != 2 || r.ExitCode != nil {
			t.Errorf("the second attempt: %+v, %v", r, err)
		}
		if got, want := runs(t, p), "invoice 7 failed 2; "; got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{Retry: 1}); err != nil || r.Here {
			t.Errorf("no attempt is left: %+v, %v", r, err)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{Retry: 2}); err != nil || r.Attempt != 3 || !r.Here {
			t.Errorf("the third attempt: %+v, %v", r, err)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{Retry: 9}); err != nil || r.Here || r.Outcome != lock.OutcomeDone || r.Attempt != 3 {
			t.Errorf("done: %+v, %v", r, err)
		}
		if r, err := once(t, p, lock.KeySchedule("invoice 8"), nil, lock.OnceOptions{}); err != nil || !r.Here || r.First {
			t.Errorf("another key: %+v, %v", r, err)
		}
		if got, want := runs(t, p), "invoice 7 done 3 code 0; invoice 8 done code 0; "; got != want || p.life != 400*24*time.Hour {
			t.Errorf("runs %s for %v, want %s for 400 days", got, p.life, want)
		}
		if r, err := once(t, p, lock.KeySchedule("invoice 9"), exit(-1), lock.OnceOptions{}); !errors.Is(err, exit(-1)) || r.ExitCode != nil {
			t.Errorf("ended by a signal: %+v, %v; want no exit code", r, err)
		}
	})
}

// A holder that dies leaves a tick that is begun. Calls that may begin it again wait for
// its outcome, others do not.
func TestOnceHolderDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, key := openBackend(&backend{}), lock.KeySchedule("k")
		var calls sync.WaitGroup
		calls.Go(func() {
			if r, err := lock.Once(t.Context(), p, "job", key, func(ctx context.Context, _ *lock.Lease, _ lock.Run) error {
				<-ctx.Done()
				return ctx.Err()
			}, nil); !errors.Is(err, lock.ErrLost) || !r.Here {
				t.Errorf("the holder: %+v, %v; want ErrLost", r, err)
			}
		})
		time.Sleep(time.Second)
		if r, err := once(t, p, key, nil, lock.OnceOptions{}); err != nil || r.Outcome != lock.OutcomeRunning {
			t.Errorf("without Retry: %+v, %v", r, err)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{Wait: time.Second, Retry: 1}); err != nil || r.Outcome != lock.OutcomeRunning {
			t.Errorf("with Retry and Wait: %+v, %v", r, err)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{Wait: -1, Retry: 1}); err != nil || r.Outcome != lock.OutcomeRunning {
			t.Errorf("with Retry and without Wait: %+v, %v", r, err)
		}
		if got, want := runs(t, p), "k running; "; got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
		calls.Go(func() {
			if r, err := once(t, p, key, nil, lock.OnceOptions{Retry: 1}); err != nil || !r.Here || r.Attempt != 2 {
				t.Errorf("who waited: %+v, %v", r, err)
			}
		})
		time.Sleep(time.Minute)
		p.mu.Lock()
		p.holder = nil // the backend has lost the lock, and nobody knows yet
		p.mu.Unlock()
		if got, want := runs(t, p), "k died; "; got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{}); err != nil || r.Here || r.Outcome != lock.OutcomeDied {
			t.Errorf("after the death: %+v, %v; want that it died, as Runs says", r, err)
		}
		p.clear(false)
		calls.Wait()
		if got, want := runs(t, p), "k done 2 code 0; "; got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
		_, _ = lock.Once(t.Context(), p, "job", lock.KeySchedule("l"), func(context.Context, *lock.Lease, lock.Run) error {
			p.clear(false)
			return nil
		}, nil)
		if r, err := once(t, p, lock.KeySchedule("m"), nil, lock.OnceOptions{}); err != nil || !r.Here {
			t.Errorf("the next: %+v, %v", r, err)
		}
		if r, err := once(t, p, lock.KeySchedule("l"), nil, lock.OnceOptions{}); err != nil || r.Here || r.Outcome != lock.OutcomeDied {
			t.Errorf("of the one that died: %+v, %v; want that", r, err)
		}
	})
}

// When ctx ends, no further tick is begun, and the outcome is recorded nevertheless.
func TestOnceEndsWithCtx(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := openBackend(&backend{}), lock.EverySchedule(time.Hour)
		if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
			t.Error(err)
		}
		time.Sleep(3 * time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := lock.Once(ctx, p, "job", s, func(context.Context, *lock.Lease, lock.Run) error {
			p.broken = errors.New("boom")
			time.AfterFunc(time.Second, func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.broken = nil
			})
			cancel()
			return nil
		}, &lock.OnceOptions{CatchUp: 2})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want Canceled", err)
		}
		want := "2000-01-01T00:00:00Z done code 0; 2000-01-01T01:00:00Z done code 0; 2000-01-01T02:00:00Z missed; 2000-01-01T03:00:00Z due; "
		if got := runs(t, p); got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
	})
}

// The record is written again where a write fails for a while, and nothing is begun
// without it.
func TestOnceWithoutARecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, boom := openBackend(&backend{}), errors.New("boom")
		broken := func(err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.broken = err
		}
		run := func(key string, wait time.Duration, o lock.OnceOptions) (lock.Run, error) {
			return lock.Once(t.Context(), p, "job", lock.KeySchedule(key), func(context.Context, *lock.Lease, lock.Run) error {
				broken(boom)
				time.AfterFunc(wait, func() { broken(nil) })
				return nil
			}, &o)
		}
		if r, err := run("a", 3*time.Second, lock.OnceOptions{}); err != nil || r.Outcome != lock.OutcomeDone {
			t.Errorf("3 s: %+v, %v", r, err)
		}
		if r, err := run("b", time.Hour, lock.OnceOptions{}); !errors.Is(err, boom) || !r.Here {
			t.Errorf("an hour: %+v, %v; want boom", r, err)
		}
		if _, err := once(t, p, lock.KeySchedule("c"), nil, lock.OnceOptions{}); !errors.Is(err, boom) {
			t.Errorf("cannot be read: %v, want boom", err)
		}
		broken(nil)
		if got, want := runs(t, p), "a done code 0; b died; "; got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
		p.note = `{"version":2}`
		if _, err := once(t, p, lock.KeySchedule("c"), nil, lock.OnceOptions{}); err == nil {
			t.Error("a record of another version was overwritten")
		}
	})
}

// A call that cannot read the record once it has the lock runs nothing and says so.
func TestOnceCannotReadUnderTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, boom := openBackend(&backend{}), errors.New("boom")
		if _, err := p.TryAcquire(t.Context(), "job", nil); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(30*time.Second, func() {
			p.mu.Lock()
			p.broken = boom
			p.mu.Unlock()
			p.clear(false)
		})
		r, err := once(t, p, lock.KeySchedule("k"), nil, lock.OnceOptions{Wait: time.Minute})
		if !errors.Is(err, boom) || r.Here || !strings.HasPrefix(err.Error(), `lock: once "job" at k: `) {
			t.Errorf("%+v, %v; want boom, with the name and the tick", r, err)
		}
	})
}

// A call that may not wait does not wait for the lock, and for an answer only a moment.
func TestOnceWaitsForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openBackend(&backend{})
		if _, err := p.TryAcquire(t.Context(), "job", nil); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			wait, slow, took time.Duration
			want             error
		}{
			{-1, 0, time.Second, lock.ErrHeld}, // it looks for so long whether the holder runs the tick
			{-1, time.Hour, 3 * time.Second, context.DeadlineExceeded},
			{10 * time.Second, 0, 11 * time.Second, lock.ErrHeld},
			{10 * time.Second, time.Hour, 10 * time.Second, context.DeadlineExceeded},
		} {
			p.slow = test.slow
			began := time.Now()
			_, err := once(t, p, lock.KeySchedule("k"), nil, lock.OnceOptions{Wait: test.wait})
			if took := time.Since(began); !errors.Is(err, test.want) || (took-test.took).Abs() > time.Second/10 {
				t.Errorf("Wait %v, answers after %v: %v after %v, want %v after %v", test.wait, test.slow, err, took, test.want, test.took)
			}
		}
	})
}

// The tick is that of the time of the call, however long the backend takes to answer.
func TestOnceWithASlowPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openBackend(&backend{slow: 8 * time.Minute})
		want := time.Now()
		if r, err := once(t, p, lock.EverySchedule(tenMinutes), nil, lock.OnceOptions{}); err != nil || !r.Tick.Time.Equal(want) {
			t.Errorf("tick %v, %v; want %v", r.Tick, err, want)
		}
	})
}

// A holder that has no fence, such as flock(1), does not run the tick.
func TestOnceDoesNotKnowTheHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := openBackend(&backend{}), lock.EverySchedule(time.Hour)
		if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		p.mu.Lock()
		p.holder = &held{p: p}
		p.mu.Unlock()
		for _, wait := range []time.Duration{-1, time.Minute} {
			if r, err := once(t, p, s, nil, lock.OnceOptions{Wait: wait}); !errors.Is(err, lock.ErrHeld) || r.Outcome != lock.OutcomeMissed {
				t.Errorf("Wait %v: %+v, %v; want ErrHeld", wait, r, err)
			}
		}
	})
}

// Keys do not push out ticks, nor ticks keys.
func TestOnceWithKeysAndTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := openBackend(&backend{}), lock.EverySchedule(time.Hour)
		for i := range 40 {
			for _, want := range []bool{true, false} {
				for _, s := range []lock.Schedule{s, lock.KeySchedule(fmt.Sprint(i)), lock.KeySchedule(fmt.Sprint(max(i-15, 0)))} {
					if r, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil || r.Here && !want {
						t.Errorf("%d: %v has run again: %v", i, r.Tick, err)
					}
				}
			}
			time.Sleep(time.Hour)
		}
		if all, err := lock.Runs(t.Context(), p, "job"); err != nil || len(all) != 2*16 || all[0].Tick.Key != "24" || all[16].Tick.Key != "" {
			t.Errorf("%d runs from %v, %v; want 16 keys and 16 ticks", len(all), all[0].Tick, err)
		}
	})
}

func TestOnceRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		s    lock.Schedule
		o    lock.OnceOptions
	}{
		{"", lock.EverySchedule(time.Hour), lock.OnceOptions{}},
		{"job", lock.Schedule{}, lock.OnceOptions{}},
		{"job", lock.EverySchedule(0), lock.OnceOptions{}},
		{"job", lock.EverySchedule(-time.Second), lock.OnceOptions{}},
		{"job", lock.KeySchedule(""), lock.OnceOptions{}},
		{"job", lock.KeySchedule("\nk"), lock.OnceOptions{}},
		{"job", lock.KeySchedule(strings.Repeat("k", lock.MaxName+1)), lock.OnceOptions{}},
		{"job", lock.KeySchedule("k"), lock.OnceOptions{CatchUp: 1}},
		{"job", lock.EverySchedule(time.Hour), lock.OnceOptions{CatchUp: 17}},
		{"job", lock.EverySchedule(time.Hour), lock.OnceOptions{CatchUp: -1}},
		{"job", lock.EverySchedule(time.Hour), lock.OnceOptions{Retry: -1}},
	} {
		if _, err := lock.Once(t.Context(), openBackend(&backend{}), test.name, test.s, nil, &test.o); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("Once(%q, %v, %+v): %v, want ErrInvalid", test.name, test.s, test.o, err)
		}
	}
}
