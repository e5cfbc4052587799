package registry

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// outages is a store that notes when it last did not answer. The heartbeats that are
// missing then say nothing about their processes.
type outages struct {
	store.Store
	now  func() time.Time // the wall clock
	last atomic.Pointer[time.Time]

	mu    sync.Mutex
	spans []span // the latest ones, in order of time
}

// span is a time in which the store did not answer, by the wall clock.
type span struct{ from, to time.Time }

const (
	// maxSpans is how many outages are remembered.
	maxSpans = 100

	// spanGap is the time between two failures that belong to one outage, at most.
	spanGap = 2 * time.Minute
)

func (o *outages) note(err error) {
	for _, answer := range []error{
		nil, store.ErrNotFound, store.ErrDuplicate, store.ErrConflict, store.ErrClosed, store.ErrKey, store.ErrDocument, store.ErrCollection, context.Canceled,
	} {
		if errors.Is(err, answer) {
			return
		}
	}
	now := time.Now()
	o.last.Store(&now)
	at := wall(o.now)
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.spans); n > 0 && at.Sub(o.spans[n-1].to).Abs() < spanGap {
		o.spans[n-1].to = at
		return
	}
	o.spans = append(o.spans[max(0, len(o.spans)-maxSpans+1):], span{at, at})
}

// until returns until when p, which is presumed dead, may have created ids: while the
// store was away, and until a heartbeat had to follow, none could be recorded.
func (o *outages) until(p *Process) time.Time {
	until := p.Last.Time.Add(p.patience())
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.spans {
		if to := s.to.Add(maxBackoff * p.Interval); !s.from.After(until) && to.After(until) {
			until = to
		}
	}
	return until
}

// recent reports whether p may not have sent a heartbeat since the store last failed,
// and how long ago that was.
func (o *outages) recent(p *Process) (ago time.Duration, recent bool) {
	last := o.last.Load()
	if last == nil {
		return 0, false
	}
	ago = time.Since(*last)
	return ago, ago < (missed+maxBackoff)*p.Interval
}

// Get is [store.Store.Get].
func (o *outages) Get(ctx context.Context, collection string, key store.Key) (bson.Raw, error) {
	doc, err := o.Store.Get(ctx, collection, key)
	o.note(err)
	return doc, err
}

// GetMany is [store.Store.GetMany].
func (o *outages) GetMany(ctx context.Context, collection string, keys []store.Key) ([]bson.Raw, error) {
	docs, err := o.Store.GetMany(ctx, collection, keys)
	o.note(err)
	return docs, err
}

// Find is [store.Store.Find].
func (o *outages) Find(ctx context.Context, collection string, q store.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for doc, err := range o.Store.Find(ctx, collection, q) {
			o.note(err)
			if !yield(doc, err) {
				return
			}
		}
	}
}

// SwapMany is [store.Store.SwapMany].
func (o *outages) SwapMany(ctx context.Context, collection string, swaps []store.Swap) ([]bson.Raw, error) {
	docs, err := o.Store.SwapMany(ctx, collection, swaps)
	o.note(err)
	return docs, err
}

// Swap is [store.Store.Swap].
func (o *outages) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	doc, err := o.Store.Swap(ctx, collection, old, new)
	o.note(err)
	return doc, err
}
