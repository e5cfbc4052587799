package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// outages is a store that notes when it did not answer, and when it was not used for so
// long that it may have been unreachable. Heartbeats that are missing since then say
// nothing about their processes.
type outages struct {
	store.Store

	mu       sync.Mutex
	failed   time.Time     // when it last did not answer
	answered time.Time     // when it last answered
	woke     time.Time     // when it answered after it was not asked
	slept    time.Duration // for how long it was not asked then
}

// maxUnasked is the longest time between two calls in which no outage goes unnoticed.
const maxUnasked = 2 * time.Minute

// note notes the result of a call, and returns its error.
func (o *outages) note(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if answers(err) {
		if gap := now.Sub(o.answered); gap > maxUnasked && !o.answered.IsZero() {
			o.woke, o.slept = now, gap
		}
		o.answered = now
		return err
	}
	o.failed = now
	return err
}

// answers reports whether the result of a call shows that the store has answered.
func answers(err error) bool {
	all := []error{nil, store.ErrNotFound, store.ErrDuplicate, store.ErrConflict, store.ErrClosed, store.ErrKey, store.ErrDocument, store.ErrCollection}
	return slices.ContainsFunc(all, func(answer error) bool { return errors.Is(err, answer) })
}

// recent returns why heartbeats of p may be missing although p lives: a recent outage of
// the store, or a possible one. It returns "" if there was none.
func (o *outages) recent(p *Process) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	within := func(t time.Time) (time.Duration, bool) {
		ago := time.Since(t)
		return ago.Round(time.Second), !t.IsZero() && ago < (missed+maxBackoff)*p.Interval
	}
	if ago, recent := within(o.failed); recent {
		return fmt.Sprintf("the store did not answer %v ago", ago)
	}
	if ago, recent := within(o.woke); recent {
		return fmt.Sprintf("this program did not use the store for %v until %v ago, so it cannot tell whether the store was reachable", o.slept.Round(time.Second), ago)
	}
	return ""
}

// Get is [store.Store.Get].
func (o *outages) Get(ctx context.Context, collection string, key store.Key) (bson.Raw, error) {
	doc, err := o.Store.Get(ctx, collection, key)
	return doc, o.note(err)
}

// GetMany is [store.Store.GetMany].
func (o *outages) GetMany(ctx context.Context, collection string, keys []store.Key) ([]bson.Raw, error) {
	docs, err := o.Store.GetMany(ctx, collection, keys)
	return docs, o.note(err)
}

// FindMany is [store.Store.FindMany].
func (o *outages) FindMany(ctx context.Context, collection string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	docs, err := o.Store.FindMany(ctx, collection, ranges, limit)
	return docs, o.note(err)
}

// Find is [store.Store.Find].
func (o *outages) Find(ctx context.Context, collection string, q store.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for doc, err := range o.Store.Find(ctx, collection, q) {
			if !yield(doc, o.note(err)) {
				return
			}
		}
	}
}

// SwapMany is [store.Store.SwapMany].
func (o *outages) SwapMany(ctx context.Context, collection string, swaps []store.Swap) ([]bson.Raw, error) {
	docs, err := o.Store.SwapMany(ctx, collection, swaps)
	return docs, o.note(err)
}
