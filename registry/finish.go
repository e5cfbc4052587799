package registry

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// finish moves a process that has ended, or crashed, from the living to the ended: it
// stores its samples, completes its record and deletes its living record l, which is
// stored as raw under key. If another heartbeat comes in between, the process stays among the
// living. It may be called again after an error.
func (r *Registry) finish(ctx context.Context, raw bson.Raw, l *living, key string) error {
	block := key[:8]
	if err := r.storeSamples(ctx, block, l.recent[len(l.recent)-l.unstored:]); err != nil {
		return err
	}
	if err := r.complete(ctx, l, processKey(l.gpid, block)); err != nil {
		return fmt.Errorf("registry: complete record of %v: %w", l.gpid, err)
	}
	err := r.store.DeleteIf(ctx, livingRecords, raw)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("registry: delete living record of %v: %w", l.gpid, err)
	}
	return nil
}

// complete writes what a living record says into the record.
func (r *Registry) complete(ctx context.Context, l *living, k string) error {
	for {
		raw, err := r.store.Get(ctx, processes, key(k))
		if errors.Is(err, store.ErrNotFound) {
			return nil // the process was never recorded, or is pruned
		}
		if err != nil {
			return err
		}
		doc, err := decode[record](raw, processes)
		if err != nil {
			return err
		}
		l.over(&doc.Process)
		doc.Format, doc.Final = format, true
		if _, err = r.store.Swap(ctx, processes, raw, doc); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}
