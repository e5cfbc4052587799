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

// OnceOptions tune one [Once].
type OnceOptions struct {
	// Retry is how many further attempts a tick gets, on all hosts together, after an attempt
	// failed or its holder died. Default: 0.
	Retry int
	// CatchUp is how many missed ticks a call runs before its own tick. If more were missed,
	// the call runs the latest ones. It is 0 to 16; for a [KeySchedule] it must be 0.
	// Default: 0.
	CatchUp int
	// Wait is the longest time to wait for the lock. If it is negative, the call does not wait
	// and runs no late ticks. Default: until ctx ends or the error is [ErrTooLate].
	Wait time.Duration
	// Acquire tunes the lease.
	Acquire AcquireOptions
}

// Once runs a job once per tick, on one of several hosts. Call it on each host at about every
// tick, as cron does. Each call is for the tick nearest to now, but never for one that is due
// more than an hour from now. If no host has begun that tick, Once calls f under the lock, see
// [Do].
//
// The border between two ticks is midway, or about an hour before the later tick if that comes
// after midway. Near the border, hosts whose clocks differ could choose different ticks. Once
// then does not call f, and the error wraps [ErrBetween].
//
// Once reads the clock of the backend or, in files and SQLite, that of this machine. The clock
// by which you call Once may differ from it by a third of the time between two ticks or by an
// hour, whichever is less.
//
// If Run.Here is true, this call ran f, and the error is that of f, or says that the lock was
// lost. If another host has begun the tick, Once returns that host's Run and nil. If
// OnceOptions.Retry allows another attempt and Wait is not negative, Once first waits for the
// outcome; if it is a failure, this call makes the other attempt. If the error says that the
// backend did not answer in time, f was not called: ignore the Run.
//
// A tick that becomes due while an earlier tick runs is late: the next call that gets the
// lock runs all late ticks, oldest first. If the lock does not become free while the call
// waits, see OnceOptions.Wait, the error wraps a [HeldError]. If 15 further ticks become due
// meanwhile, the error wraps [ErrTooLate] instead, and the tick no longer counts as late. A
// tick that no host has begun is missed, and OnceOptions.CatchUp can run it later.
//
// If the backend keeps its data, and holders stop when their lease ends, f is begun at most 1
// + OnceOptions.Retry times for each tick. That is not exactly once: a holder may die after f
// has done its work and before the outcome is recorded. So f must be idempotent. If the
// backend loses the record, a tick may run again, see Run.First.
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

// once is one call of [Once].
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
	err    error // why the tick cannot be run any more, if it was not run
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

// over reports whether this call may not begin the tick any more, and keeps in c.result what
// the record r says of the tick. now is the time of the backend when r was read.
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

// known returns the result as [Runs] knows it, or as it is if Runs takes long.
func (c *once) known(ctx context.Context) Run {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	all, _ := Runs(ctx, c.locker, c.name)
	if i := slices.IndexFunc(all, func(r Run) bool { return r.Tick.is(c.tick) }); i >= 0 {
		return all[i]
	}
	return c.result
}

// tooLate reports whether so many further ticks are due that only CatchUp may run t.
func (c *once) tooLate(t Tick, now time.Time) bool {
	return !now.Before(c.schedule.after(t.Time, maxRuns-1))
}

// errOver ends a wait for the lock when the tick cannot be run any more.
var errOver = errors.New("the tick is over")

// While a call waits for the lock it reads the record again and again. The pause between two
// reads doubles from minLook to maxLook.
const (
	minLook = 50 * time.Millisecond
	maxLook = 30 * time.Second
)

// answerTime limits how long a call with a negative Wait waits for the backend. It also
// limits how long each call tries to find out how the run of another host ended.
const answerTime = 3 * time.Second

// take waits for the lock, as long as waiting allows, and runs the ticks that are due. While
// it waits, it watches the record.
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
			// Acquire meets the same error.
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
	case over, ctx.Err() == nil && errors.As(err, &held) && c.isRunBy(ctx, held.Status.Fence):
		return nil
	}
	return err
}

// isRunBy reports whether the tick is over, or is being run by the holder with this fence. It
// waits for up to a second, because the holder may be about to record what it begins. fence
// is 0 if the holder is unknown.
func (c *once) isRunBy(ctx context.Context, fence uint64) bool {
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

// run runs the ticks that are due. The caller holds the lock.
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

// due returns the ticks that this call runs: the late ones, the missed ones that CatchUp
// allows, and its own tick.
func (c *once) due(r *record, now time.Time) []Tick {
	all := r.missed(c.schedule, c.tick, maxRuns)
	skip := len(all) - c.options.CatchUp // the first skip ticks run only if they are late
	due := slices.DeleteFunc(slices.Clone(all), func(t Tick) bool {
		return slices.Index(all, t) < skip && (c.options.Wait < 0 || !r.late(t) || c.tooLate(t, now))
	})
	return append(due, c.tick)
}

// writer writes the record of a lock under a lease.
type writer struct {
	lease  *Lease
	record record
	life   time.Duration
	now    time.Time // by the clock of the backend when the record was read
	read   time.Time // the same moment by the clock of this process
}

// time returns the time by the clock of the backend, without asking the backend.
func (w *writer) time() time.Time { return w.now.Add(time.Since(w.read)).UTC() }

// attempt runs a tick once and records its start and outcome.
func (w *writer) attempt(ctx context.Context, t Tick, first bool, f func(context.Context, *Lease, Run) error) (Run, error) {
	x := run{Time: t.Time, Key: t.Key, Attempt: 1, Outcome: OutcomeRunning, Owner: w.lease.Owner(), Fence: w.lease.Fence(), Start: w.time()}
	x.Host, _ = os.Hostname() // empty if unknown
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
	// recordTime is how long a failed write of the record is retried: a failover takes some
	// seconds.
	recordTime = 10 * time.Second
	// recordPause is the pause between two attempts to write it.
	recordPause = 100 * time.Millisecond
)

// write stores the record. It retries while the lease is held.
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
