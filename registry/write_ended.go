package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oidkit/oid/store"
)

// A process is living as long as it has a living record. Its record is final when it has none
// any more. A heartbeat may come while a recorder or a sweep moves the process to the ended
// ones. The living record decides who wins: moveToEnded first makes the record final, and then
// deletes the living record only if it has not changed.
//
//   - If a heartbeat comes before the deletion, the deletion fails, and moveToLiving takes the
//     change of the record back.
//   - If a heartbeat comes after the deletion, it stores a new living record, and putRecord makes
//     the record living again.
//
// An end is never taken back.

// moveToEnded moves processes that have ended, or died, from the living to the ended ones,
// with few calls of the store: it stores their samples, makes their records final and
// deletes their living records. A process that sends a heartbeat meanwhile stays among the
// living. moveToEnded may be called again after an error.
func (r *Registry) moveToEnded(ctx context.Context, all []storedProcess) error {
	if len(all) == 0 {
		return nil
	}
	held := make([]newSamples, len(all))
	swaps := make([]store.Swap, len(all))
	for i, f := range all {
		held[i] = newSamples{f.living.block(), f.living.recent[len(f.living.recent)-f.living.unstored:]}
		swaps[i].Old = f.living.raw
	}
	err := r.putSamples(ctx, held)
	if err == nil {
		err = r.markFinal(ctx, all)
	}
	if err != nil {
		return err
	}
	_, err = r.store.SwapMany(ctx, livingRecords, swaps)
	for i, err := range errorsOf(len(all), err) {
		if errors.Is(err, store.ErrConflict) {
			err = r.moveToLiving(ctx, all[i].key())
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("registry: delete living record of %v: %w", all[i].living.gpid, err)
		}
	}
	return nil
}

// markFinal writes what the living records say to the records, and makes these final. It
// skips processes without a record: they never completed their registration, or were
// pruned.
func (r *Registry) markFinal(ctx context.Context, all []storedProcess) error {
	all = slices.DeleteFunc(slices.Clone(all), func(f storedProcess) bool { return f.record == nil })
	if len(all) == 0 {
		return nil
	}
	swaps := make([]store.Swap, len(all))
	for i, f := range all {
		doc := *f.record
		doc.Final = true
		swaps[i] = store.Swap{Old: f.recordRaw, New: doc}
	}
	var entries []any
	var again []storedProcess // their records have changed meanwhile
	_, err := r.store.SwapMany(ctx, processRecords, swaps)
	for i, err := range errorsOf(len(all), err) {
		switch {
		case err == nil:
			entries = append(entries, endedDoc{Key: endedKey(all[i].record.Last.Time, all[i].key()), Format: format})
		case errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound):
			again = append(again, all[i])
		default:
			return fmt.Errorf("registry: mark record of %v as final: %w", all[i].living.gpid, err)
		}
	}
	if _, err := r.store.InsertMany(ctx, endedRecords, entries, nil); err != nil && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: write the ends of processes: %w", err)
	}
	if err := r.readRecords(ctx, again); err != nil {
		return err
	}
	return r.markFinal(ctx, again)
}

// moveToLiving takes back markFinal for the record with the key, because a heartbeat came
// afterwards.
func (r *Registry) moveToLiving(ctx context.Context, k string) error {
	final := false // unless the process itself has revived it
	doc, err := amend(ctx, r.store, processRecords, k, func(doc *record) error {
		if final = doc.Final && doc.End == nil; !final {
			return errUnchanged
		}
		doc.Final, doc.Gone = false, time.Time{}
		return nil
	})
	if err == nil && final {
		err = r.deleteEnded(ctx, doc)
	}
	return err
}

// deleteEnded removes a process that turned out to be alive from the index of ended ones.
func (r *Registry) deleteEnded(ctx context.Context, doc *record) error {
	return unlessNotFound(r.store.Delete(ctx, endedRecords, storeKey(endedKey(doc.Last.Time, doc.Key))))
}
