// Package calls has what the Lockers of all engines have in common: options, methods, and
// calls that Close ends.
package calls

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/objectid"
)

// Calls counts the calls that are under way. Make it with [New]. Any number of
// goroutines may share one.
type Calls struct {
	// Closing ends when Close is called.
	Closing context.Context

	settings Settings

	close context.CancelFunc
	mu    sync.Mutex // orders Begin and Close
	calls sync.WaitGroup
}

// Settings are what the options of all Lockers have.
type Settings struct {
	Engine  string           // begins the errors
	TTL     time.Duration    // of a lease that asks for none; 0 is [lock.DefaultTTL]
	Process gpid.GPID        // of the owners; zero is that of [gpid.Self]
	Events  func(lock.Event) // nil if nobody wants to know
}

// New returns Calls that are open. The error wraps [lock.ErrInvalid] if the TTL is invalid,
// or is the reason why this process cannot be identified.
func New(s Settings) (*Calls, error) {
	s.TTL = cmp.Or(s.TTL, lock.DefaultTTL)
	if s.Process.IsZero() {
		var err error
		if s.Process, err = gpid.Self(""); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Engine, err)
		}
	}
	if err := lock.CheckTTL(s.TTL); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Engine, err)
	}
	c := &Calls{settings: s}
	c.Closing, c.close = context.WithCancel(context.Background())
	return c, nil
}

// Process returns the process of all owners.
func (c *Calls) Process() gpid.GPID { return c.settings.Process }

// Call is one call of Acquire or TryAcquire.
type Call struct {
	Name    string
	Options lock.AcquireOptions // with a TTL
	Owner   lock.Owner          // of the lease
	Began   time.Time
	Events  func(lock.Event)
}

// Tell reports an event. The fence is 0 if there is none yet.
func (c *Call) Tell(kind lock.EventKind, fence uint64, err error) {
	if c.Events != nil {
		c.Events(lock.Event{Kind: kind, Name: c.Name, Owner: c.Owner, Fence: fence, Took: time.Since(c.Began), Err: err})
	}
}

// Lease reports that the lease of the call has begun, and begins it. Its context has the
// values of ctx.
func (c *Call) Lease(ctx context.Context, g engine.Grant) *lock.Lease {
	c.Tell(lock.EventAcquired, g.Fence, nil)
	return NewLease(ctx, c.Name, c.Owner, c.Events, g)
}

// Await reports [lock.EventUnanswered] after [UnansweredAfter], unless the function that it
// returns is called before. That function is called once. It reports whether it was too late,
// and nothing is reported after it.
func (c *Call) Await() (answered func() (late bool)) {
	told := make(chan struct{})
	timer := time.AfterFunc(UnansweredAfter, func() {
		defer close(told)
		c.Tell(lock.EventUnanswered, 0, NoAnswer(UnansweredAfter))
	})
	return func() bool {
		if timer.Stop() {
			return false
		}
		<-told
		return true
	}
}

// Begin counts a call, unless Close came first: then it returns [lock.ErrClosed].
// Without an error the caller calls Done at its end.
func (c *Calls) Begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Closing.Err() != nil {
		return lock.ErrClosed
	}
	c.calls.Add(1)
	return nil
}

// Done ends a call.
func (c *Calls) Done() { c.calls.Done() }

// Go runs f as part of a call that is under way.
func (c *Calls) Go(f func()) { c.calls.Go(f) }

// Repeat calls f, after a pause again, until it returns no error or one that will not pass.
// When ctx ends, the error is that of ctx with that of the last f before; when Close is
// called, it is [lock.ErrClosed]. f gets a context that ends with both.
func (c *Calls) Repeat(ctx context.Context, pause time.Duration, mayPass func(error) bool, f func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.Closing, stop)()
	for failed := error(nil); ; {
		err := f(ctx)
		switch {
		case err == nil:
			return nil
		case c.Closing.Err() != nil:
			return lock.ErrClosed
		case ctx.Err() != nil && failed != nil:
			return fmt.Errorf("%w: %w", ctx.Err(), failed)
		case ctx.Err() != nil || !mayPass(err):
			return err
		}
		failed = err
		_ = backoff.Sleep(ctx, backoff.Spread(pause))
	}
}

// UnansweredAfter is how long a waiter waits for an answer of the backend until it reports
// [lock.EventUnanswered]: a busy server may take seconds.
const UnansweredAfter = 5 * time.Second

// NoAnswer returns the error of a request that got no answer within d. It is an
// [os.ErrDeadlineExceeded] and no end of the caller's context.
func NoAnswer(d time.Duration) error { return noAnswer(d) }

type noAnswer time.Duration

func (e noAnswer) Error() string {
	return fmt.Sprintf("no answer within %v", time.Duration(e).Round(time.Millisecond))
}

func (noAnswer) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// Close ends Closing, waits until all calls have ended, and reports whether it
// was the first Close.
func (c *Calls) Close() (first bool) {
	c.mu.Lock()
	first = c.Closing.Err() == nil
	c.close()
	c.mu.Unlock()
	c.calls.Wait()
	return first
}

// Place is what an engine does with its locks, in calls that have begun, with names that are
// valid.
type Place struct {
	// Acquire takes the lock of a call, which with wait waits for it as long as ctx allows.
	Acquire func(ctx context.Context, c Call, wait bool) (*lock.Lease, error)
	// Status returns who has a lock.
	Status func(ctx context.Context, name string) (lock.Status, error)
	// List returns the status of every lock that is held, sorted by name.
	List func(ctx context.Context) ([]lock.Status, error)
	// Note returns the note of a lock and the time.
	Note func(ctx context.Context, name string) (engine.Note, error)
}

// base is a [lock.Locker] for a Place, but for the notes.
type base struct {
	lock.Locker // nil
	calls       *Calls
	place       Place
}

// NewLocker returns a Locker for a Place whose calls are among c.
func NewLocker(c *Calls, p Place) lock.Locker {
	b := base{calls: c, place: p}
	return WithNotes(b, b.note)
}

// The functions that package lock gives to its engines alone.
var (
	// NewLease begins a lease. Its context has the values of ctx and does not end with ctx.
	// The events may be nil.
	NewLease = engine.NewLease.(func(ctx context.Context, name string, owner lock.Owner, events func(lock.Event), g engine.Grant) *lock.Lease)
	// WithNotes returns a Locker that reads the notes of its locks by a function.
	WithNotes = engine.WithNotes.(func(l lock.Locker, read func(ctx context.Context, name string) (engine.Note, error)) lock.Locker)
)

// Acquire takes a lock, waiting for it as long as ctx allows, see [lock.Locker].
func (b base) Acquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	return b.acquire(ctx, name, o, true)
}

// TryAcquire takes a lock if it is free, see [lock.Locker].
func (b base) TryAcquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	return b.acquire(ctx, name, o, false)
}

func (b base) acquire(ctx context.Context, name string, o *lock.AcquireOptions, wait bool) (*lock.Lease, error) {
	call, err := b.calls.Acquire(name, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.calls.settings.Engine, err)
	}
	defer b.calls.Done()
	return b.place.Acquire(ctx, call, wait)
}

// Acquire is Begin for a call of Acquire or TryAcquire. The error wraps [lock.ErrInvalid]
// if the name or the TTL is invalid.
func (c *Calls) Acquire(name string, o *lock.AcquireOptions) (Call, error) {
	call := Call{Name: name, Owner: lock.Owner{Process: c.settings.Process, ID: objectid.New()}, Began: time.Now(), Events: c.settings.Events, Options: *cmp.Or(o, &lock.AcquireOptions{})}
	call.Options.TTL = cmp.Or(call.Options.TTL, c.settings.TTL)
	err := cmp.Or(lock.CheckTTL(call.Options.TTL), lock.CheckName(name))
	if err == nil {
		err = c.Begin()
	}
	return call, err
}

// Status returns who has a lock, see [lock.Locker].
func (b base) Status(ctx context.Context, name string) (lock.Status, error) {
	return about(ctx, b.calls, "status", name, b.place.Status)
}

// note returns the note of a lock and the time of its place.
func (b base) note(ctx context.Context, name string) (engine.Note, error) {
	return about(ctx, b.calls, "note", name, b.place.Note)
}

// about returns what ask says of the lock with a name, or the zero T with an error.
func about[T any](ctx context.Context, c *Calls, what, name string, ask func(context.Context, string) (T, error)) (result T, err error) {
	if err := lock.CheckName(name); err != nil {
		return result, err
	}
	if err := c.Begin(); err != nil {
		return result, err
	}
	defer c.Done()
	if result, err = ask(ctx, name); err != nil {
		var none T
		return none, fmt.Errorf("%s: %s of %q: %w", c.settings.Engine, what, name, err)
	}
	return result, nil
}

// List returns the status of every lock that is held, see [lock.Locker].
func (b base) List(ctx context.Context) ([]lock.Status, error) {
	if err := b.calls.Begin(); err != nil {
		return nil, err
	}
	defer b.calls.Done()
	held, err := b.place.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: list: %w", b.calls.settings.Engine, err)
	}
	return held, nil
}

// Held returns the status of every lock that is held, of those with names, in their order.
func Held(ctx context.Context, names []string, status func(ctx context.Context, name string) (lock.Status, error)) (held []lock.Status, err error) {
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		s, err := status(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("status of %q: %w", name, err)
		}
		if s.Held {
			held = append(held, s)
		}
	}
	return held, nil
}

// Close ends waiting calls with [lock.ErrClosed] and waits until all have returned.
func (b base) Close() error {
	b.calls.Close()
	return nil
}
