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
	"github.com/oidkit/oid/lock/internal/engine"
)

// place is a place of locks in memory, for tests whose time is that of a bubble. Its
// clock is ahead by skew.
type place struct {
	lock.Locker
	skew   time.Duration
	timers engine.Timers

	mu     sync.Mutex
	fence  uint64
	holder *held
	queue  []chan struct{}
	note   string
	life   time.Duration // of the note
	broken error         // of every read and write of the note
	slow   time.Duration // how long an answer to Note is under way
}

// held is a lease in a place.
type held struct {
	p     *place
	fence uint64
}

func (p *place) Note(ctx context.Context, _ string) (engine.Note, error) {
	select {
	case <-time.After(p.slow):
	case <-ctx.Done():
		return engine.Note{}, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return engine.Note{Text: p.note, Now: time.Now().Add(p.skew)}, p.broken
}

func (p *place) Status(_ context.Context, name string) (lock.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status(name), nil
}

func (p *place) status(name string) lock.Status {
	s := lock.Status{Name: name, Held: p.holder != nil}
	if s.Held {
		s.Fence = p.holder.fence
	}
	return s
}

func (p *place) TryAcquire(ctx context.Context, name string, _ ...lock.AcquireOptions) (*lock.Lease, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take(ctx, name)
}

func (p *place) take(ctx context.Context, name string) (*lock.Lease, error) {
	if p.holder != nil {
		return nil, &lock.HeldError{Status: p.status(name)}
	}
	p.fence++
	p.holder = &held{p: p, fence: p.fence}
	return lock.NewLease(ctx, name, lock.Owner{}, nil, engine.Grant{
		Fence: p.fence, Deadline: time.Now().Add(ttl), Every: ttl / 3, Retry: ttl / 6, Timers: &p.timers, Keeper: p.holder,
	}), nil
}

func (p *place) Acquire(ctx context.Context, name string, _ ...lock.AcquireOptions) (*lock.Lease, error) {
	for {
		p.mu.Lock()
		lease, err := p.take(ctx, name)
		turn := make(chan struct{})
		if err != nil {
			p.queue = append(p.queue, turn)
		}
		p.mu.Unlock()
		if err == nil {
			return lease, nil
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// clear frees the lock, loses the note as well if forget is set, and wakes all waiters.
func (p *place) clear(forget bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free()
	if forget {
		p.note = ""
	}
}

func (p *place) free() {
	p.holder = nil
	for _, turn := range p.queue {
		close(turn)
	}
	p.queue = nil
}

// with calls f if h still has the lock.
func (h *held) with(f func()) error {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	if h.p.holder != h {
		return lock.ErrLost
	}
	f()
	return nil
}

func (h *held) Keep() (time.Time, error) {
	return time.Now().Add(ttl), h.with(func() {})
}
func (h *held) Free() error        { return h.with(h.p.free) }
func (h *held) SetGroup(int) error { return nil }
func (h *held) SetNote(text string, life time.Duration) error {
	err := error(nil)
	return errors.Join(h.with(func() {
		if err = h.p.broken; err == nil {
			h.p.note, h.p.life = text, life
		}
	}), err)
}

// hosts are several crontabs that call Once for the same job.
type hosts struct {
	place    *place
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
				_, err := lock.Once(t.Context(), h.place, "job", h.schedule, h.work, h.options)
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
// period, which is then late. So they do if all three clocks differ from the place's, and
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
				p := &place{}
				h := &hosts{place: p, schedule: parse(t, test.schedule), period: tenMinutes, clocks: test.clocks, job: test.job}
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
func once(t *testing.T, p *place, s lock.Schedule, err error, o lock.OnceOptions) (lock.Run, error) {
	t.Helper()
	return lock.Once(t.Context(), p, "job", s, func(context.Context, *lock.Lease, lock.Run) error {
		time.Sleep(time.Second)
		return err
	}, o)
}

// runs returns what Runs shows, in one line.
func runs(t *testing.T, p *place) string {
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
		p, key := &place{}, lock.Key("invoice 7")
		if r, err := once(t, p, key, exit(3), lock.OnceOptions{}); !errors.Is(err, exit(3)) || !r.Here || !r.First || *r.ExitCode != 3 {
			t.Errorf("the first: %+v, %v", r, err)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{}); err != nil || r.Here || r.Outcome != lock.Failed {
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
		if r, err := once(t, p, key, nil, lock.OnceOptions{Retry: 9}); err != nil || r.Here || r.Outcome != lock.Done || r.Attempt != 3 {
			t.Errorf("done: %+v, %v", r, err)
		}
		if r, err := once(t, p, lock.Key("invoice 8"), nil, lock.OnceOptions{}); err != nil || !r.Here || r.First {
			t.Errorf("another key: %+v, %v", r, err)
		}
		if got, want := runs(t, p), "invoice 7 done 3 code 0; invoice 8 done code 0; "; got != want || p.life != 400*24*time.Hour {
			t.Errorf("runs %s for %v, want %s for 400 days", got, p.life, want)
		}
		if r, err := once(t, p, lock.Key("invoice 9"), exit(-1), lock.OnceOptions{}); !errors.Is(err, exit(-1)) || r.ExitCode != nil {
			t.Errorf("ended by a signal: %+v, %v; want no exit code", r, err)
		}
	})
}

// A holder that dies leaves a tick that is begun. Calls that may begin it again wait for
// its outcome, others do not.
func TestOnceHolderDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, key := &place{}, lock.Key("k")
		var calls sync.WaitGroup
		calls.Go(func() {
			if r, err := lock.Once(t.Context(), p, "job", key, func(ctx context.Context, _ *lock.Lease, _ lock.Run) error {
				<-ctx.Done()
				return ctx.Err()
			}); !errors.Is(err, lock.ErrLost) || !r.Here {
				t.Errorf("the holder: %+v, %v; want ErrLost", r, err)
			}
		})
		time.Sleep(time.Second)
		if r, err := once(t, p, key, nil, lock.OnceOptions{}); err != nil || r.Outcome != lock.Running {
			t.Errorf("without Retry: %+v, %v", r, err)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{Wait: time.Second, Retry: 1}); err != nil || r.Outcome != lock.Running {
			t.Errorf("with Retry and Wait: %+v, %v", r, err)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{Wait: -1, Retry: 1}); err != nil || r.Outcome != lock.Running {
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
		p.holder = nil // the place has lost the lock, and nobody knows yet
		p.mu.Unlock()
		if got, want := runs(t, p), "k died; "; got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
		if r, err := once(t, p, key, nil, lock.OnceOptions{}); err != nil || r.Here {
			t.Errorf("after the death: %+v, %v", r, err)
		}
		p.clear(false)
		calls.Wait()
		if got, want := runs(t, p), "k done 2 code 0; "; got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
		_, _ = lock.Once(t.Context(), p, "job", lock.Key("l"), func(context.Context, *lock.Lease, lock.Run) error {
			p.clear(false)
			return nil
		})
		if r, err := once(t, p, lock.Key("m"), nil, lock.OnceOptions{}); err != nil || !r.Here {
			t.Errorf("the next: %+v, %v", r, err)
		}
		if r, err := once(t, p, lock.Key("l"), nil, lock.OnceOptions{}); err != nil || r.Here || r.Outcome != lock.Died {
			t.Errorf("of the one that died: %+v, %v; want that", r, err)
		}
	})
}

// When ctx ends, no further tick is begun, and the outcome is recorded nevertheless.
func TestOnceEndsWithCtx(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := &place{}, lock.Every(time.Hour)
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
		}, lock.OnceOptions{CatchUp: 2})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want Canceled", err)
		}
		want := "2000-01-01T00:00:00Z done code 0; 2000-01-01T01:00:00Z done code 0; 2000-01-01T02:00:00Z missed; "
		if got := runs(t, p); got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
	})
}

// Ticks at which no host called are missed. They are run only with CatchUp, the last
// ones, oldest first.
func TestOnceCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it begins at midnight
		p, s := &place{}, lock.Every(time.Hour)
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
		if err != nil || len(all) != 5+16 || all[5].Outcome != lock.Missed {
			t.Errorf("%d runs, %v; want 5 and the last 16 that were missed", len(all), err)
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
		p.skew = -10 * time.Hour
		if r, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil || r.Here {
			t.Errorf("after the clock was set back less: %+v, %v; want one that has run", r, err)
		}
	})
}

// A call that may not wait leaves alone a tick that is due while an earlier one is run.
func TestOnceDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{}
		h := &hosts{place: p, schedule: lock.Every(tenMinutes), period: tenMinutes, clocks: []time.Duration{0, time.Second}, job: 15 * time.Minute}
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
		p := &place{}
		if _, err := p.TryAcquire(t.Context(), "job"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err := once(t, p, lock.Every(tenMinutes), nil, lock.OnceOptions{})
		if took := time.Since(began); !errors.Is(err, lock.ErrTooLate) || took < 15*tenMinutes || took > 15*tenMinutes+time.Minute {
			t.Errorf("%v after %v, want ErrTooLate after 15 periods", err, took)
		}
	})
}

// The record is written again where a write fails for a while, and nothing is begun
// without it.
func TestOnceWithoutARecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, boom := &place{}, errors.New("boom")
		broken := func(err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.broken = err
		}
		run := func(key string, wait time.Duration, o lock.OnceOptions) (lock.Run, error) {
			return lock.Once(t.Context(), p, "job", lock.Key(key), func(context.Context, *lock.Lease, lock.Run) error {
				broken(boom)
				time.AfterFunc(wait, func() { broken(nil) })
				return nil
			}, o)
		}
		if r, err := run("a", 3*time.Second, lock.OnceOptions{}); err != nil || r.Outcome != lock.Done {
			t.Errorf("3 s: %+v, %v", r, err)
		}
		if r, err := run("b", time.Hour, lock.OnceOptions{}); !errors.Is(err, boom) || !r.Here {
			t.Errorf("an hour: %+v, %v; want boom", r, err)
		}
		if _, err := once(t, p, lock.Key("c"), nil, lock.OnceOptions{}); !errors.Is(err, boom) {
			t.Errorf("cannot be read: %v, want boom", err)
		}
		broken(nil)
		if got, want := runs(t, p), "a done code 0; b died; "; got != want {
			t.Errorf("runs %s, want %s", got, want)
		}
		p.note = `{"version":2}`
		if _, err := once(t, p, lock.Key("c"), nil, lock.OnceOptions{}); err == nil {
			t.Error("a record of another version was overwritten")
		}
	})
}

// A call that may not wait does not wait for the lock, and for an answer only a moment.
func TestOnceWaitsForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{}
		if _, err := p.TryAcquire(t.Context(), "job"); err != nil {
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
			_, err := once(t, p, lock.Key("k"), nil, lock.OnceOptions{Wait: test.wait})
			if took := time.Since(began); !errors.Is(err, test.want) || (took-test.took).Abs() > time.Second/10 {
				t.Errorf("Wait %v, answers after %v: %v after %v, want %v after %v", test.wait, test.slow, err, took, test.want, test.took)
			}
		}
	})
}

// The tick is that of the time of the call, however long the place takes to answer.
func TestOnceWithASlowPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{slow: 8 * time.Minute}
		want := time.Now()
		if r, err := once(t, p, lock.Every(tenMinutes), nil, lock.OnceOptions{}); err != nil || !r.Tick.Time.Equal(want) {
			t.Errorf("tick %v, %v; want %v", r.Tick, err, want)
		}
	})
}

// A holder that has no fence, such as flock(1), does not run the tick.
func TestOnceDoesNotKnowTheHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := &place{}, lock.Every(time.Hour)
		if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		p.mu.Lock()
		p.holder = &held{p: p}
		p.mu.Unlock()
		for _, wait := range []time.Duration{-1, time.Minute} {
			if r, err := once(t, p, s, nil, lock.OnceOptions{Wait: wait}); !errors.Is(err, lock.ErrHeld) || r.Outcome != lock.Missed {
				t.Errorf("Wait %v: %+v, %v; want ErrHeld", wait, r, err)
			}
		}
	})
}

// Keys do not push out ticks, nor ticks keys.
func TestOnceWithKeysAndTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := &place{}, lock.Every(time.Hour)
		for i := range 40 {
			for _, want := range []bool{true, false} {
				for _, s := range []lock.Schedule{s, lock.Key(fmt.Sprint(i)), lock.Key(fmt.Sprint(max(i-15, 0)))} {
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

// A tick whose calls have been told that it is too late is not run by a later call.
func TestOnceLeavesOutWhatIsTooLate(t *testing.T) {
	testenv.WithoutRace(t) // whose runtime crashes here, in simulated time
	synctest.Test(t, func(t *testing.T) {
		const stuck, ticks = 32, 40
		h := &hosts{place: &place{}, schedule: lock.Every(tenMinutes), period: tenMinutes, clocks: []time.Duration{0, time.Second}}
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
		p, s := &place{}, lock.Every(time.Hour)
		began := time.Now()
		if _, err := lock.Once(t.Context(), p, "job", s, func(context.Context, *lock.Lease, lock.Run) error {
			p.clear(false)
			return nil
		}); !errors.Is(err, lock.ErrUnrecorded) || !errors.Is(err, lock.ErrLost) || time.Since(began) > 0 {
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
		p, s := &place{}, lock.Every(time.Hour)
		if _, err := once(t, p, s, nil, lock.OnceOptions{}); err != nil {
			t.Error(err)
		}
		lease, err := p.TryAcquire(t.Context(), "job")
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
				r, err := once(t, &place{skew: -ahead}, lock.Every(period), nil, lock.OnceOptions{})
				if err != nil || !r.Tick.Time.Equal(time.Now().Truncate(period)) {
					t.Errorf("every %v, wrong by %v: tick %v, %v", period, ahead, r.Tick, err)
				}
				if time.Until(r.Start) != -time.Second-ahead || r.End.Sub(r.Start) != time.Second {
					t.Errorf("every %v, wrong by %v: ran from %v to %v; want the clock of the place", period, ahead, r.Start, r.End)
				}
			})
		}
	}
}

func TestOnceRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		s    lock.Schedule
		o    lock.OnceOptions
	}{
		{"", lock.Every(time.Hour), lock.OnceOptions{}},
		{"job", lock.Schedule{}, lock.OnceOptions{}},
		{"job", lock.Every(0), lock.OnceOptions{}},
		{"job", lock.Every(-time.Second), lock.OnceOptions{}},
		{"job", lock.Key(""), lock.OnceOptions{}},
		{"job", lock.Key("k"), lock.OnceOptions{CatchUp: 1}},
		{"job", lock.Every(time.Hour), lock.OnceOptions{CatchUp: 17}},
		{"job", lock.Every(time.Hour), lock.OnceOptions{CatchUp: -1}},
		{"job", lock.Every(time.Hour), lock.OnceOptions{Retry: -1}},
	} {
		if _, err := lock.Once(t.Context(), &place{}, test.name, test.s, nil, test.o); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("Once(%q, %v, %+v): %v, want ErrInvalid", test.name, test.s, test.o, err)
		}
	}
}
