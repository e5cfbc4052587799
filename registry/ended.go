package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// endedDoc says by its key alone when a process ended, see endedKey. It may remain
// when the process turns out to be alive: the record decides.
type endedDoc struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`
}

// endedKey is the key by which an ended process is found by the time of its last
// heartbeat, which is also that of its end.
func endedKey(last time.Time, process string) string { return millis(last) + ":" + process }

// splitEnded returns the parts of an endedKey.
func splitEnded(key string) (last time.Time, process string, err error) {
	digits, process, ok := strings.Cut(key, ":")
	ms, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok {
		return last, "", fmt.Errorf("registry: key %q of %s, want milliseconds:process", key, ended)
	}
	return time.UnixMilli(ms).UTC(), process, nil
}

// finish moves a process that has ended, or crashed, from the living to the ended: it
// stores its samples, completes its record and deletes its living record l, which is
// stored as raw. If another heartbeat comes in between, the process stays
// among the living. It may be called again after an error.
func (r *Registry) finish(ctx context.Context, raw bson.Raw, l *living) error {
	block := l.block()
	if err := r.storeSamples(ctx, block, l.recent[len(l.recent)-l.unstored:]); err != nil {
		return err
	}
	k := processKey(l.gpid, block)
	p, err := r.complete(ctx, l, k)
	if err == nil {
		_, err = r.store.Insert(ctx, ended, endedDoc{endedKey(p.Last.Time, k), format})
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: complete record of %v: %w", l.gpid, err)
	}
	err = r.store.DeleteIf(ctx, livingRecords, raw)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if errors.Is(err, store.ErrConflict) {
		err = r.revive(ctx, k)
	}
	if err != nil {
		return fmt.Errorf("registry: delete living record of %v: %w", l.gpid, err)
	}
	return nil
}

// finishAll is finish for many processes with few calls of the store.
func (r *Registry) finishAll(ctx context.Context, all []silent) error {
	var rest []silent // which take calls of their own
	var of []silent
	var held []newSamples
	var swaps []store.Swap
	for _, f := range all {
		if f.record == nil {
			rest = append(rest, f)
			continue
		}
		doc := *f.record
		doc.Final = true
		of, swaps = append(of, f), append(swaps, store.Swap{Old: f.stored, New: doc})
		held = append(held, newSamples{f.l.block(), f.l.recent[len(f.l.recent)-f.l.unstored:]})
	}
	if err := r.putSamples(ctx, held); err != nil {
		return err
	}
	stored, err := r.store.SwapMany(ctx, processes, swaps)
	if _, refused := errors.AsType[*store.RefusedError](err); err != nil && !refused {
		return fmt.Errorf("registry: complete records: %w", err)
	}
	var done []silent
	var entries []any
	var gone []store.Swap
	for i, f := range of {
		if stored[i] == nil { // another one wrote the record
			rest = append(rest, f)
			continue
		}
		entries = append(entries, endedDoc{endedKey(f.record.Last.Time, f.record.Key), format})
		done, gone = append(done, f), append(gone, store.Swap{Old: f.raw})
	}
	if _, err := r.store.InsertMany(ctx, ended, entries, nil); err != nil && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: store ends: %w", err)
	}
	_, err = r.store.SwapMany(ctx, livingRecords, gone)
	if refused, ok := errors.AsType[*store.RefusedError](err); ok {
		err = nil
		for _, refusal := range refused.Refused {
			if err == nil && errors.Is(refusal.Err, store.ErrConflict) {
				err = r.revive(ctx, done[refusal.Index].record.Key)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("registry: delete living records: %w", err)
	}
	return each(len(rest), func(i int) error { return r.finish(ctx, rest[i].raw, rest[i].l) })
}

// complete writes what a living record says into the record with the key k. The error
// wraps [store.ErrNotFound] if the process was never recorded, or is pruned.
func (r *Registry) complete(ctx context.Context, l *living, k string) (*record, error) {
	return amend(ctx, r.store, processes, k, func(doc *record) error {
		l.over(&doc.Process)
		doc.Final = true
		return nil
	})
}

// revive makes the record with the key that of a living process again: a heartbeat came
// after the record was completed.
func (r *Registry) revive(ctx context.Context, k string) error {
	final := false // unless the process itself has revived it
	doc, err := amend(ctx, r.store, processes, k, func(doc *record) error {
		if final = doc.Final && doc.End == nil; !final {
			return errAsIs
		}
		doc.Final, doc.Gone = false, time.Time{}
		return nil
	})
	if err == nil && final {
		err = r.unfinish(ctx, doc)
	}
	return err
}

// unfinish removes a process that has turned out to be alive from the ended ones.
func (r *Registry) unfinish(ctx context.Context, doc *record) error {
	err := r.store.Delete(ctx, ended, key(endedKey(doc.Last.Time, doc.Key)))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
