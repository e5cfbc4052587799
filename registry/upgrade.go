package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// marks is the document that says how far a registry is in order.
type marks struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`
	// Samples is a time: processes that ended before it have no samples.
	Samples time.Time `bson:"samples,omitempty"`
}

const marksKey = "registry"

// readMarks returns the marks. A registry without is upgraded first: the processes of
// version 1 of the format get a living record or become ended ones, so that they are
// found by their state. Samples remain as they are until they are merged or deleted.
// The upgrade may be interrupted, and be done by several processes at once.
func (r *Registry) readMarks(ctx context.Context) (raw bson.Raw, m marks, err error) {
	for range 2 {
		raw, err = r.store.Get(ctx, about, key(marksKey))
		if err == nil {
			m, err = decode[marks](raw, about)
			return raw, m, err
		}
		if !errors.Is(err, store.ErrNotFound) {
			break
		}
		if err = r.upgrade(ctx); err != nil {
			break
		}
		if _, err = r.store.Insert(ctx, about, marks{Key: marksKey, Format: format}); err != nil && !errors.Is(err, store.ErrDuplicate) {
			break
		}
	}
	return nil, m, fmt.Errorf("registry: read %s: %w", about, err)
}

// begin marks a registry that is empty, so that it need not be upgraded later. It is
// tried once and may fail.
func (r *Registry) begin(ctx context.Context) {
	if r.begun.Swap(true) {
		return
	}
	if _, err := r.store.Get(ctx, about, key(marksKey)); !errors.Is(err, store.ErrNotFound) {
		return
	}
	for range r.store.Find(ctx, processes, store.Query{Limit: 1}) {
		return // a process, or an error
	}
	_, _ = r.store.Insert(ctx, about, marks{Key: marksKey, Format: format})
}

// upgrade finds the processes that version 1 of the format recorded.
func (r *Registry) upgrade(ctx context.Context) error {
	var raws []bson.Raw
	for raw, err := range r.store.Find(ctx, processes, store.Query{}) {
		if err != nil {
			return err
		}
		if raws = append(raws, raw); len(raws) == maxBatch {
			if err := r.upgradeSome(ctx, raws); err != nil {
				return err
			}
			raws = raws[:0]
		}
	}
	return r.upgradeSome(ctx, raws)
}

func (r *Registry) upgradeSome(ctx context.Context, raws []bson.Raw) error {
	var living, ends []any
	var swaps []store.Swap
	for _, raw := range raws {
		doc, err := decode[record](raw, processes)
		if err != nil {
			return err
		}
		switch {
		case doc.Format >= format:
		case doc.End == nil: // its record stays as it is: an older version may write it
			living = append(living, livingOf(&doc.Process, 0).encode(livingKey(doc.Block, doc.Member)))
		default:
			ends = append(ends, endedDoc{endedKey(doc.Last.Time, doc.Key), format})
			doc.Format, doc.Final = format, true
			swaps = append(swaps, store.Swap{Old: raw, New: doc})
		}
	}
	for collection, docs := range map[string][]any{livingRecords: living, ended: ends} {
		if _, err := r.store.InsertMany(ctx, collection, docs, nil); err != nil && !errors.Is(err, store.ErrDuplicate) {
			return err
		}
	}
	_, err := r.store.SwapMany(ctx, processes, swaps)
	if _, refused := errors.AsType[*store.RefusedError](err); refused {
		err = nil // written or deleted meanwhile
	}
	return err
}
