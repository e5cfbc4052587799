// Package calls implements what the Lockers of all engines have in common: their methods and
// options, and that Close ends calls.
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
	"github.com/oidkit/oid/lock/internal/holder"
	"github.com/oidkit/oid/objectid"
)

// Calls counts the calls of one Locker that are under way, so that Close can wait for them.
// Make it with [New]. Goroutines may share one.
type Calls struct {
	// Closing ends when Close is called.
	Closing context.Context

	settings Settings

	close context.CancelFunc
	mu    sync.Mutex // orders Begin and Close
	calls sync.WaitGroup
}

// Settings are the options that all engines have.
type Settings struct {
	Engine  string           // name of the package, which begins error texts
	TTL     time.Duration    // default TTL of leases; 0 means [lock.DefaultTTL]
	Process gpid.GPID        // of all owners; zero means that of [gpid.Self]
	Events  func(lock.Event) // may be nil
}

// New returns Calls. The error wraps [lock.ErrInvalid] if the TTL is invalid; otherwise it
// says why this process cannot be identified.
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
	Options lock.AcquireOptions // its TTL is set
	Owner   lock.Owner          // of the lease
	Began   time.Time
	Context context.Context
	Events  func(lock.Event)
}

// Tell reports an event. fence is 0 before a lease was granted.
func (c *Call) Tell(kind lock.EventKind, fence uint64, err error) {
	if c.Events != nil {
		c.Events(lock.Event{Kind: kind, Context: c.Context, Name: c.Name, Owner: c.Owner, Fence: fence, Took: time.Since(c.Began), Err: err})
	}
}

// Lease reports [lock.EventAcquired] and begins the lease that the engine has granted. The
// context of the lease has the values of ctx. If the function for events panics, the lock is
// released before the panic leaves Lease.
func (c *Call) Lease(ctx context.Context, g engine.Grant) (lease *lock.Lease) {
	defer func() {
		if lease == nil {
			_ = g.Keeper.Free() // after an error the lock ends with its TTL
		}
	}()
	c.Tell(lock.EventAcquired, g.Fence, nil)
	return NewLease(ctx, c.Name, c.Owner, c.Events, g)
}

// Await reports [lock.EventUnanswered] after [UnansweredAfter], unless the caller calls
// answered before that. The caller must call answered once. It returns whether the event was
// reported, and the event is not reported after it has returned.
func (c *Call) Await() (answered func() (reported bool)) {
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

// Begin counts a call, which must end with Done. After Close it returns [lock.ErrClosed]
// instead.
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

// Go runs f in a goroutine that Close waits for. The caller must itself be in a call.
func (c *Calls) Go(f func()) { c.calls.Go(f) }

// Repeat calls f until it succeeds or fails with an error for which mayPass is false. It
// pauses between two attempts. f gets a context that ends with ctx and with Close. If ctx
// ends, the error wraps that of ctx and the last error of f. After Close it is
// [lock.ErrClosed].
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

// UnansweredAfter is how long the backend may leave a waiter without an answer before the
// waiter reports [lock.EventUnanswered]. A busy server may take seconds.
const UnansweredAfter = 5 * time.Second

// NoAnswer returns the error of a request that got no answer within d. It is an
// [os.ErrDeadlineExceeded], but not a [context.DeadlineExceeded], which would mean the end of
// the caller's ctx.
func NoAnswer(d time.Duration) error { return noAnswer(d) }

type noAnswer time.Duration

func (e noAnswer) Error() string {
	return fmt.Sprintf("no answer within %v", time.Duration(e).Round(time.Millisecond))
}

func (noAnswer) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// Close ends Closing, waits until all calls have ended, and returns whether this is the first
// Close.
func (c *Calls) Close() (first bool) {
	c.mu.Lock()
	first = c.Closing.Err() == nil
	c.close()
	c.mu.Unlock()
	c.calls.Wait()
	return first
}

// Backend is how an engine uses its backend. The methods of [NewLocker] have checked the name
// and called Begin before they call these functions.
type Backend struct {
	// Acquire takes a lock. With wait it waits for the lock as long as ctx allows.
	Acquire func(ctx context.Context, c Call, wait bool) (*lock.Lease, error)
	// Status returns who holds a lock.
	Status func(ctx context.Context, name string) (lock.Status, error)
	// List returns the status of every lock that is held, sorted by name.
	List func(ctx context.Context) ([]lock.Status, error)
	// Break frees a lock if owner holds it, and otherwise returns an error that wraps
	// [lock.ErrLost]. The error of the lease of owner says who has broken the lock.
	Break func(ctx context.Context, name string, owner lock.Owner, who string) error
	// Note returns the note of a lock, and the time of the backend.
	Note func(ctx context.Context, name string) (engine.Note, error)
}

// base is a [lock.Locker] that uses a Backend. [WithNotes] adds its method for notes.
type base struct {
	lock.Locker // nil
	calls       *Calls
	backend     Backend
}

// NewLocker returns a Locker that uses a Backend and counts its calls in c.
func NewLocker(c *Calls, p Backend) lock.Locker {
	b := base{calls: c, backend: p}
	return WithNotes(b, b.note)
}

// Functions that package lock gives only to its engines, see package engine.
var (
	// NewLease begins a lease. Its context has the values of ctx and does not end with ctx.
	// events may be nil.
	NewLease = engine.NewLease.(func(ctx context.Context, name string, owner lock.Owner, events func(lock.Event), g engine.Grant) *lock.Lease)
	// WithNotes returns l with a method that reads notes by the function read.
	WithNotes = engine.WithNotes.(func(l lock.Locker, read func(ctx context.Context, name string) (engine.Note, error)) lock.Locker)
)

// Acquire implements [lock.Locker].
func (b base) Acquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	return b.acquire(ctx, name, o, true)
}

// TryAcquire implements [lock.Locker].
func (b base) TryAcquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	return b.acquire(ctx, name, o, false)
}

func (b base) acquire(ctx context.Context, name string, o *lock.AcquireOptions, wait bool) (*lock.Lease, error) {
	call, err := b.calls.Acquire(name, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.calls.settings.Engine, err)
	}
	defer b.calls.Done()
	call.Context = ctx
	lease, err := b.backend.Acquire(ctx, call, wait)
	if err != nil {
		call.Tell(lock.EventFailed, 0, err)
	}
	return lease, err
}

// Acquire begins a call of Acquire or TryAcquire, which must end with Done. The error wraps
// [lock.ErrInvalid] if the name or the TTL is invalid, or is [lock.ErrClosed].
func (c *Calls) Acquire(name string, o *lock.AcquireOptions) (Call, error) {
	call := Call{Name: name, Owner: lock.Owner{Process: c.settings.Process, ID: objectid.New()}, Began: time.Now(), Events: c.settings.Events, Options: *cmp.Or(o, &lock.AcquireOptions{})}
	call.Options.TTL = cmp.Or(call.Options.TTL, c.settings.TTL)
	err := cmp.Or(lock.CheckTTL(call.Options.TTL), lock.CheckName(name))
	if err == nil {
		err = c.Begin()
	}
	return call, err
}

// Status implements [lock.Locker].
func (b base) Status(ctx context.Context, name string) (lock.Status, error) {
	return about(ctx, b.calls, "status", name, b.backend.Status)
}

// Break implements [lock.Locker].
func (b base) Break(ctx context.Context, name string, owner lock.Owner) error {
	_, err := about(ctx, b.calls, "break", name, func(ctx context.Context, name string) (none struct{}, _ error) {
		who := fmt.Sprintf("pid %d on %s", os.Getpid(), holder.Self(lock.AcquireOptions{}).Host)
		return none, b.backend.Break(ctx, name, owner, who)
	})
	return err
}

// note returns the note of a lock, and the time of the backend.
func (b base) note(ctx context.Context, name string) (engine.Note, error) {
	return about(ctx, b.calls, "note", name, b.backend.Note)
}

// about calls ask for a lock, within a call of c. what names the question in errors.
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

// List implements [lock.Locker].
func (b base) List(ctx context.Context) ([]lock.Status, error) {
	if err := b.calls.Begin(); err != nil {
		return nil, err
	}
	defer b.calls.Done()
	held, err := b.backend.List(ctx)
	if err != nil {
		err = fmt.Errorf("%s: list: %w", b.calls.settings.Engine, err)
	}
	return held, err
}

// Held returns the status of the locks with these names that are held, sorted by name. status
// reads one status.
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

// Close implements [lock.Locker].
func (b base) Close() error {
	b.calls.Close()
	return nil
}
