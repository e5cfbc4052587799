package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// Errors about the store. Clients see their texts.
var (
	errNoStore     = errors.New("this server has no store, so it has no record of processes")
	errUnavailable = errors.New("the store does not answer now; the server keeps trying")
)

// backend is the store and the registry in it. It opens the store in the background, and
// again after the file of the store was replaced.
type backend struct {
	options Options
	metrics *metrics

	// random makes ids until the server is a registered process.
	random    *objectid.Generator
	connected atomic.Pointer[connected]
	calls     caller
	moved     chan struct{} // asks run to open the store again
}

// connected holds the open store and the registration of the server.
type connected struct {
	store    store.Store
	registry *registry.Registry
	tracer   *registry.Tracer
	member   *registry.Member
}

// maxStoreCalls bounds the calls in flight. If the store hangs, they include calls for which
// no request waits any more.
const maxStoreCalls = 64

func newBackend(o Options, m *metrics) (*backend, error) {
	g, err := objectid.NewGenerator(&objectid.Options{Now: clockOf(o)})
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	calls := caller{"store", o.Limits.Store, semaphore.NewWeighted(maxStoreCalls), o.Log, errUnavailable}
	return &backend{options: o, metrics: m, random: g, calls: calls, moved: make(chan struct{}, 1)}, nil
}

// clockOf returns the clock for generators. It is nil for the system's clock, which
// generators read faster by themselves.
func clockOf(o Options) func() time.Time {
	if o.ownClock {
		return o.Now
	}
	return nil
}

// generator returns the generator for new ids: that of the registered process, or the
// random one before the server is registered.
func (b *backend) generator() *objectid.Generator {
	if c := b.connected.Load(); c != nil {
		return c.member.Generator()
	}
	return b.random
}

// run keeps the store open until ctx ends. It calls ready each time the store was opened.
func (b *backend) run(ctx context.Context, addr string, ready func()) {
	for {
		b.keepTrying(ctx, addr)
		ready()
		b.upkeep(ctx)
		if ctx.Err() != nil {
			return
		}
		old := b.connected.Swap(nil)
		b.options.Log.Warn("the file of the store was deleted, moved or replaced; opening it again")
		last, cancel := context.WithTimeout(ctx, b.options.Limits.Store)
		// End may fail, because the file with the registration is gone.
		_ = old.member.End(last, "the store was replaced")
		cancel()
		_ = old.store.Close()
	}
}

// keepTrying opens the store and registers the server. It tries again until that
// succeeds or ctx ends.
func (b *backend) keepTrying(ctx context.Context, addr string) {
	pause := backoff.Backoff{First: 250 * time.Millisecond, Max: 10 * time.Second}
	for {
		err := b.connect(ctx, addr)
		if err == nil || ctx.Err() != nil {
			return
		}
		wait := pause.Next()
		b.options.Log.Warn("the store cannot be used", "error", err, "again_in", wait.Round(time.Millisecond))
		_ = backoff.Sleep(ctx, wait)
	}
}

func (b *backend) connect(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 4*b.options.Limits.Store)
	defer cancel()
	s, err := b.options.Open(ctx)
	if err != nil {
		return err
	}
	r := registry.New(s, &registry.Options{OneHost: b.options.OneHost, Log: b.options.Log, Now: clockOf(b.options)})
	m, err := r.Register(ctx, &registry.RegisterOptions{Addr: addr, Name: "oid serve", Version: b.options.Version})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	b.connected.Store(&connected{s, r, registry.NewTracer(r), m})
	b.options.Log.Info("registered", "gpid", m.GPID())
	return nil
}

// close records the end of the server and closes the store.
func (b *backend) close(ctx context.Context) error {
	c := b.connected.Load()
	if c == nil {
		return nil
	}
	err := c.member.End(ctx, "shut down")
	if err != nil {
		err = fmt.Errorf("server: %w", err)
	}
	return errors.Join(err, c.store.Close())
}

const (
	// sweepEvery is the time between two sweeps of the registry.
	sweepEvery = 20 * time.Second

	// pruneEvery is the time between two prunes.
	pruneEvery = time.Hour
)

// upkeep sweeps and prunes the registry regularly, until the file of the store was replaced
// or ctx ends. Several servers may do so in one store.
func (b *backend) upkeep(ctx context.Context) {
	c := b.connected.Load()
	sweep := time.Tick(sweepEvery)
	pruned := time.Now()
	for failed := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-b.moved:
			return
		case <-sweep:
		}
		_, err := c.registry.Sweep(ctx)
		if err == nil && time.Since(pruned) > pruneEvery {
			pruned = time.Now()
			_, err = c.registry.Prune(ctx, nil)
		}
		if err != nil && ctx.Err() == nil && !failed {
			b.options.Log.Warn("the registry cannot be swept and pruned", "error", err)
		}
		failed = err != nil
	}
}

// ask calls the registry, see callWithin. It returns errNoStore if the server has no store,
// and errUnavailable if the store is not open. name is the label of the call in the metrics.
func ask[T any](ctx context.Context, b *backend, name string, call func(context.Context, *registry.Registry) (T, error)) (T, error) {
	return askConnected(ctx, b, name, func(ctx context.Context, c *connected) (T, error) { return call(ctx, c.registry) })
}

// askConnected is like ask, for calls that need more than the registry.
func askConnected[T any](ctx context.Context, b *backend, name string, call func(context.Context, *connected) (T, error)) (none T, err error) {
	if b.options.Open == nil {
		return none, errNoStore
	}
	c := b.connected.Load()
	if c == nil {
		return none, errUnavailable
	}
	return callWithin(ctx, &b.calls, name, func(ctx context.Context) (T, error) {
		began := time.Now()
		value, err := call(ctx, c)
		b.metrics.store.WithLabelValues(name).Observe(time.Since(began).Seconds())
		if errors.Is(err, store.ErrMoved) && b.connected.Load() == c {
			select {
			case b.moved <- struct{}{}:
			default: // run was already asked
			}
		}
		return value, err
	})
}

// caller calls something that may hang, such as a store, on behalf of clients.
type caller struct {
	what   string              // what is called, for the log
	limit  time.Duration       // timeout of a call
	slots  *semaphore.Weighted // one for each call in flight, including calls that have timed out but still hang
	log    *slog.Logger
	silent error // what clients see if a call fails
}

// callWithin calls do. Even if do hangs, it returns when parent is done or c.limit has
// passed. It returns an error of do that is about the request, see isAnswer. Any other error
// is logged with name, and callWithin returns c.silent instead.
func callWithin[T any](parent context.Context, c *caller, name string, do func(context.Context) (T, error)) (none T, err error) {
	ctx, cancel := context.WithTimeout(parent, c.limit)
	defer cancel()
	if c.slots.Acquire(ctx, 1) != nil {
		return none, c.silent
	}
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		defer c.slots.Release(1)
		value, err := do(ctx)
		done <- answer{value, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	if a.err == nil || isAnswer(a.err) {
		return a.value, a.err
	}
	if parent.Err() == nil { // otherwise the client has disconnected
		c.log.LogAttrs(parent, slog.LevelWarn, c.what, slog.String("call", name), slog.Any("error", a.err))
	}
	return none, c.silent
}
