package lock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/oidkit/oid/internal/backoff"
)

// OnceOptions tune one [Once]. The zero value is ready to use.
type OnceOptions struct {
	// Retry is how often a tick may be begun again after an attempt that failed or whose
	// holder died. With it, a call waits for the outcome of another host's attempt.
	// Default: never.
	Retry int
	// CatchUp is how many missed ticks, the latest and at most 16, a call may run before
	// its own. A key has none. Default: none.
	CatchUp int
	// Wait is how long to wait for the lock. If it is negative, the call does not wait and
	// runs no late ticks. Default: until ctx ends or 15 further ticks are due.
	Wait time.Duration
	// Acquire tunes the lease.
	Acquire AcquireOptions
}

// Once calls f unless another call with the same name has done so for the tick that is due
// now, on any host. Call it on each host at about every tick, as cron does. The tick is the
// nearest by the clock of the backend if that has one (Redis, PostgreSQL, MongoDB), or else by
// the clock of this machine. The calling clocks may be wrong by a third of the time between
// two ticks, and by an hour at most. In the middle between two ticks the error wraps
// [ErrBetween].
//
// f runs under the lock, see [Do]. The start is recorded before f is called and the outcome
// after it: [OutcomeDone] if f returned nil.
//
// Run.Here reports whether f ran in this call. The error is then that of f, or says that the
// lock was lost. If another host has begun the tick, Once returns that host's Run and nil. It
// waits for the outcome only if OnceOptions.Retry allows another attempt. If the backend did
// not answer in time, f has not run, and the Run means nothing.
//
// A tick that is due while an earlier one runs is late: the call that gets the lock next runs
// all late ticks, oldest first. If the lock is not free in time, the error is a [HeldError]. It
// wraps [ErrTooLate] if 15 further ticks are due before that. Nobody runs the tick then. A tick
// that no host has begun is missed, and OnceOptions.CatchUp runs it later.
//
// If the backend keeps its data, and holders stop when their lease ends, f is begun for each
// tick at most once, plus OnceOptions.Retry times. f is not run exactly once: a holder may die
// after f has done its work and before the outcome is recorded, so f must be idempotent. If
// the backend loses the record, a tick may run again, and Run.First is set.
func Once(ctx context.Context, l Locker, name string, s Schedule, f func(ctx context.Context, lease *Lease, run Run) error, o *OnceOptions) (Run, error) {
	c := &once{locker: l, name: name, schedule: s, f: f, began: time.Now(), options: *cmp.Or(o, &OnceOptions{})}
	if err := c.check(); err != nil {
		return Run{}, err
	}
	waiting, cancel := ctx, func() {}
	switch wait := c.options.Wait; {
	case wait < 0:
		waiting, cancel = context.WithTimeout(ctx, answerTime)
	case wait > 0:
		waiting, cancel = context.WithTimeout(ctx, wait)
	}
	defer cancel()
	r, now, err := readRecord(waiting, l, name)
	if err != nil {
		return Run{}, fmt.Errorf("lock: once %q: %w", name, err)
	}
	if c.tick, err = s.at(now.Add(-time.Since(c.began))); err != nil {
		return Run{}, fmt.Errorf("lock: once %q: %w", name, err)
	}
	if !c.over(&r, now) {
		err = c.take(ctx, waiting)
	}
	if c.result.Outcome == OutcomeRunning { // or its holder has died
		c.result = c.known(ctx)
	}
	if err == nil {
		err = c.err
	}
	if err != nil && !c.result.Here {
		err = fmt.Errorf("lock: once %q at %v: %w", name, c.tick, err)
	}
	return c.result, err
}

// once is a call of [Once].
type once struct {
	locker   Locker
	name     string
	schedule Schedule
	options  OnceOptions
	f        func(ctx context.Context, lease *Lease, run Run) error
	began    time.Time
	tick     Tick

	mu     sync.Mutex
	result Run
	err    error // why the tick is over, if that is not its run
}

func (c *once) check() error {
	err := errors.Join(CheckName(c.name), c.schedule.check())
	switch o := c.options; {
	case err != nil:
		return err
	case o.Retry < 0:
		return fmt.Errorf("%w OnceOptions.Retry %d: want 0 or more", ErrInvalid, o.Retry)
	case o.CatchUp < 0 || o.CatchUp > maxRuns || o.CatchUp > 0 && c.schedule.next == nil:
		return fmt.Errorf("%w OnceOptions.CatchUp %d: want 0 to %d, and 0 for a key", ErrInvalid, o.CatchUp, maxRuns)
	}
	return nil
}

// over reports whether this call may not begin the tick any more, by a record that was
// read at a time of its place, and keeps what is known of it.
func (c *once) over(r *record, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := r.find(c.tick)
	switch {
	case x != nil:
		c.result = x.public()
		return x.Outcome == OutcomeDone || x.Attempt > c.options.Retry
	case c.tick.Key == "" && (r.forgot(c.tick) || c.tooLate(c.tick, now)):
		c.result, c.err = Run{Tick: c.tick, Outcome: OutcomeMissed}, ErrTooLate
		return true
	}
	c.result = Run{Tick: c.tick, Outcome: OutcomeMissed}
	return false
}

// known returns the result as [Runs] knows it, or as it is if that takes long.
func (c *once) known(ctx context.Context) Run {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	all, _ := Runs(ctx, c.locker, c.name)
	if i := slices.IndexFunc(all, func(r Run) bool { return r.Tick.is(c.tick) }); i >= 0 {
		return all[i]
	}
	return c.result
}

// tooLate reports whether nobody runs a tick any more that is not caught up.
func (c *once) tooLate(t Tick, now time.Time) bool {
	return !now.Before(c.schedule.after(t.Time, maxRuns-1))
}

// errOver ends a wait for the lock that is not needed any more.
var errOver = errors.New("the tick is over")

// The pause between two looks at the record while a call waits for the lock doubles from
// the first to the second.
const (
	minLook = 50 * time.Millisecond
	maxLook = 30 * time.Second
)

// answerTime is how long a call that does not wait for the lock waits for the engine, and
// each call for what has become of the run of another.
const answerTime = 3 * time.Second

// take waits for the lock, as long as waiting allows, and runs what is due. Meanwhile it
// looks at the record.
func (c *once) take(ctx, waiting context.Context) error {
	waiting, stop := context.WithCancelCause(waiting)
	defer stop(nil)
	acquire := c.locker.Acquire
	if c.options.Wait < 0 {
		acquire = c.locker.TryAcquire
	}
	var looks sync.WaitGroup
	looks.Go(func() {
		pause := backoff.Backoff{First: minLook, Max: maxLook}
		for backoff.Sleep(waiting, pause.Next()) == nil {
			// An error comes again in Acquire.
			if r, now, err := readRecord(waiting, c.locker, c.name); err == nil && c.over(&r, now) {
				stop(errOver)
				return
			}
		}
	})
	lease, err := acquire(waiting, c.name, &c.options.Acquire)
	over := context.Cause(waiting) == errOver
	stop(nil)
	looks.Wait()
	held := (*HeldError)(nil)
	switch {
	case err == nil:
		return doUnder(ctx, lease, c.run)
	case over, ctx.Err() == nil && errors.As(err, &held) && c.runs(ctx, held.Status.Fence):
		return nil
	}
	return err
}

// runs reports whether the holder with a fence runs the tick, or the tick is over. It
// waits for a moment, because the holder may be about to record what it begins. A holder
// that is not known has no fence.
func (c *once) runs(ctx context.Context, fence uint64) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(minLook) {
		r, now, err := readRecord(ctx, c.locker, c.name)
		if err != nil || c.over(&r, now) {
			return err == nil
		}
		for _, x := range r.Runs {
			if fence > 0 && x.Fence >= fence {
				return c.result.Fence >= fence
			}
		}
	}
	return false
}

// run does under the lock what is due.
func (c *once) run(ctx context.Context, lease *Lease) error {
	r, now, err := readRecord(ctx, c.locker, c.name)
	if err != nil {
		return err
	}
	w := &writer{lease: lease, record: r, now: now, read: time.Now()}
	for i := range w.record.Runs {
		if x := &w.record.Runs[i]; x.Outcome == OutcomeRunning { // its holder has lost the lock
			x.Outcome = OutcomeDied
		}
	}
	if c.over(&w.record, now) {
		return nil
	}
	w.record.Schedule = c.schedule.text
	w.life = c.schedule.life(now)
	var all error
	for _, t := range c.due(&w.record, now) {
		if err := errors.Join(ctx.Err(), lease.Check()); err != nil {
			return errors.Join(all, err)
		}
		x, err := w.attempt(ctx, t, len(r.Runs) == 0, c.f)
		if t.is(c.tick) {
			c.result = x
		}
		all = errors.Join(all, err)
	}
	return all
}

// due returns the ticks that this call runs by a record: what is late, what it catches
// up, and its own.
func (c *once) due(r *record, now time.Time) []Tick {
	all := r.missed(c.schedule, c.tick, maxRuns)
	skip := len(all) - c.options.CatchUp // so many are only run if they are late
	due := slices.DeleteFunc(slices.Clone(all), func(t Tick) bool {
		return slices.Index(all, t) < skip && (c.options.Wait < 0 || !r.late(t) || c.tooLate(t, now))
	})
	return append(due, c.tick)
}

// writer keeps the record of a lock for a lease.
type writer struct {
	lease  *Lease
	record record
	life   time.Duration
	now    time.Time // by the clock of the place when the record was read
	read   time.Time // the same moment by the clock of this process
}

// time returns the time by the clock of the place, without asking it.
func (w *writer) time() time.Time { return w.now.Add(time.Since(w.read)).UTC() }

// attempt runs a tick once.
func (w *writer) attempt(ctx context.Context, t Tick, first bool, f func(context.Context, *Lease, Run) error) (Run, error) {
	x := run{Time: t.Time, Key: t.Key, Attempt: 1, Outcome: OutcomeRunning, Owner: w.lease.Owner(), Fence: w.lease.Fence(), Start: w.time()}
	x.Host, _ = os.Hostname() // unknown is empty
	if old := w.record.find(t); old != nil {
		x.Attempt = old.Attempt + 1
	}
	w.record.put(x)
	if err := w.write(ctx); err != nil {
		return Run{Tick: t, Outcome: OutcomeMissed}, fmt.Errorf("record the start: %w", err)
	}
	result := x.public()
	result.First, result.Here = first, true
	err := f(ctx, w.lease, result)
	x.Outcome, x.End = OutcomeDone, w.time()
	if err != nil {
		x.Outcome = OutcomeFailed
	}
	code := interface{ ExitCode() int }(nil)
	switch {
	case err == nil:
		x.ExitCode = new(0)
	case errors.As(err, &code) && code.ExitCode() >= 0:
		x.ExitCode = new(code.ExitCode())
	}
	w.record.put(x)
	if lost := w.write(context.WithoutCancel(ctx)); lost != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", ErrUnrecorded, lost))
	}
	result = x.public()
	result.First, result.Here = first, true
	return result, err
}

const (
	// recordTime is how long a write of the record is repeated after errors: a failover
	// takes some seconds.
	recordTime = 10 * time.Second
	// recordPause is the pause between two attempts.
	recordPause = 100 * time.Millisecond
)

// write stores the record while the lease has the lock.
func (w *writer) write(ctx context.Context) error {
	text, err := json.Marshal(w.record)
	if err != nil {
		return err
	}
	for began := time.Now(); ; {
		err := w.lease.grant.Keeper.SetNote(string(text), w.life)
		if err == nil || errors.Is(err, ErrLost) || ctx.Err() != nil || w.lease.Check() != nil || time.Since(began) > recordTime {
			return err
		}
		time.Sleep(recordPause)
	}
}
