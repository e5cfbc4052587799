package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

	raw     bson.Raw // as it is stored
	process string   // the key of the record
}

// endedKey is the key by which an ended process is found by the time of its last
// heartbeat, which is also that of its end.
func endedKey(last time.Time, process string) string { return millis(last) + ":" + process }

// read reads the document from BSON, which it keeps.
func (d *endedDoc) read(raw bson.Raw) error {
	key, _ := raw.Lookup("_id").StringValueOK()
	digits, process, ok := strings.Cut(key, ":")
	if _, err := strconv.ParseInt(digits, 10, 64); err != nil || !ok {
		return fmt.Errorf("key %q, want milliseconds:process", key)
	}
	*d = endedDoc{Key: key, Format: format, raw: raw, process: process}
	return nil
}

// A process is living as long as it has a living record, and final once its record says
// so. Three calls race: finish, by a recorder or a sweep, makes it final; revive and
// putRecord make it living again. The living record decides: finish makes the record final
// first, and then deletes the living record, if that is still the one that it was given.
// So a heartbeat in between makes the deletion fail, and finish takes its change back. A
// heartbeat after the deletion finds no living record and stores one, and putRecord makes
// the record living again. An end is never taken back.

// finish moves processes that have ended, or crashed, from the living to the ended with
// few calls of the store: it stores their samples, completes their records and deletes
// their living records. If another heartbeat of one comes in between, that one stays
// among the living. It may be called again after an error.
func (r *Registry) finish(ctx context.Context, all []storedProcess) error {
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
		err = r.complete(ctx, all)
	}
	if err != nil {
		return err
	}
	_, err = r.store.SwapMany(ctx, livingRecords, swaps)
	for i, err := range errorsOf(len(all), err) {
		if errors.Is(err, store.ErrConflict) {
			err = r.revive(ctx, all[i].key())
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("registry: delete living record of %v: %w", all[i].living.gpid, err)
		}
	}
	return nil
}

// complete writes what the living records say into the records. A process that was never
// recorded, or is pruned, has none.
func (r *Registry) complete(ctx context.Context, all []storedProcess) error {
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
	var again []storedProcess // whose records others wrote
	_, err := r.store.SwapMany(ctx, processRecords, swaps)
	for i, err := range errorsOf(len(all), err) {
		switch {
		case err == nil:
			entries = append(entries, endedDoc{Key: endedKey(all[i].record.Last.Time, all[i].key()), Format: format})
		case errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound):
			again = append(again, all[i])
		default:
			return fmt.Errorf("registry: complete record of %v: %w", all[i].living.gpid, err)
		}
	}
	if _, err := r.store.InsertMany(ctx, endedRecords, entries, nil); err != nil && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: store ends: %w", err)
	}
	if err := r.readRecords(ctx, again); err != nil {
		return err
	}
	return r.complete(ctx, again)
}

// revive makes the record with the key that of a living process again: a heartbeat came
// after the record was completed.
func (r *Registry) revive(ctx context.Context, k string) error {
	final := false // unless the process itself has revived it
	doc, err := amend(ctx, r.store, processRecords, k, func(doc *record) error {
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
	return unlessNotFound(r.store.Delete(ctx, endedRecords, storeKey(endedKey(doc.Last.Time, doc.Key))))
}

const (
	// presumedFor is how many times its patience a process must be silent before it
	// is moved to the ended ones without other evidence.
	presumedFor = 10

	// lateFor is how long a process of which no more can be known must be silent.
	lateFor = 24 * time.Hour
)

// Sweep moves the processes that have crashed from the living to the ended ones, so
// that lists of the living remain short. A process that was moved and turns out to be
// alive is living again with its next heartbeat. It reads the living records only,
// and of processes with a late heartbeat the record. A program that calls it
// regularly, as "oid serve" does, also finds out which late processes are dead. It returns
// how many processes it moved.
func (r *Registry) Sweep(ctx context.Context) (int64, error) {
	return r.sweep(ctx, wall(r.options.Now).Add(-lateFor))
}

// sweep also moves processes that are not known to be alive and have sent no
// heartbeat since a time.
func (r *Registry) sweep(ctx context.Context, since time.Time) (done int64, err error) {
	m, err := r.readMarks(ctx)
	if err != nil {
		return done, err
	}
	began := time.Now()
	var found []storedProcess
	flush := func() error {
		n, err := r.finishDead(ctx, found, since, m.Samples)
		done += n
		found = found[:0]
		return err
	}
	for l, err := range findDocs[living](ctx, r.store, livingRecords, store.Query{}) {
		if err != nil {
			return done, err
		}
		age := wall(r.options.Now).Sub(l.last.Time)
		if l.end == nil && age.Abs() <= missed*l.interval && !l.last.Time.Before(since) {
			continue
		}
		found = append(found, storedProcess{living: l})
		if len(found) == maxBatch {
			if err := flush(); err != nil {
				return done, err
			}
		}
	}
	if err := flush(); err != nil {
		return done, err
	}
	r.memory.forget(began)
	return done, nil
}

// finishDead moves those of the processes that are dead, and deletes the samples of
// those that ended before a time.
func (r *Registry) finishDead(ctx context.Context, found []storedProcess, since, noSamples time.Time) (n int64, err error) {
	if err := r.readRecords(ctx, found); err != nil {
		return 0, err
	}
	var recorded []*Process
	for _, f := range found {
		if f.record != nil {
			recorded = append(recorded, &f.record.Process)
		}
	}
	states, err := r.statuses(ctx, recorded)
	if err != nil {
		return 0, err
	}
	dead := found[:0:0]
	var pruned []string // whose samples are deleted
	for _, f := range found {
		over := f.living.last.Time.Before(since) // without a record, it never registered to the end
		if f.record != nil {
			over, f.record.Gone = r.isOver(&states[0], since), states[0].gone
			states = states[1:]
		}
		if !over {
			continue
		}
		if dead = append(dead, f); f.living.last.Time.Before(noSamples) {
			pruned = append(pruned, f.living.block())
		}
	}
	if err := r.finish(ctx, dead); err != nil {
		return 0, err
	}
	if _, err := r.deleteSamples(ctx, pruned, noSamples); err != nil {
		return 0, err
	}
	return int64(len(dead)), nil
}

// isOver reports whether a process can be moved to the ended ones.
func (r *Registry) isOver(s *Status, since time.Time) bool {
	silence := wall(r.options.Now).Sub(s.Last.Time)
	switch {
	case s.State == Ended, s.State == Dead && !s.Presumed:
		return true
	case s.State == Alive:
		return false
	}
	return s.State == Dead && silence.Abs() > presumedFor*s.patience() || s.Last.Time.Before(since)
}

// marks is the document that says how far a registry is in order.
type marks struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`
	// Samples is a time: processes that ended before it have no samples.
	Samples time.Time `bson:"samples,omitempty"`
}

const marksKey = "registry"

// readMarks returns the marks: zero ones of a registry that was never in order.
func (r *Registry) readMarks(ctx context.Context) (marks, error) {
	m, err := getDoc[marks](ctx, r.store, registryRecords, marksKey)
	return m, unlessNotFound(err)
}

// markSamples stores that processes which ended before a time have no samples. That a
// later time is overwritten, which another process has stored, only makes the next
// [Registry.Prune] look again.
func (r *Registry) markSamples(ctx context.Context, before time.Time) error {
	m := marks{Key: marksKey, Format: format, Samples: before}
	_, err := r.store.Insert(ctx, registryRecords, m)
	if errors.Is(err, store.ErrDuplicate) {
		err = r.store.Replace(ctx, registryRecords, m)
	}
	return err
}
