package registry

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

const (
	// presumedFor is how many times its patience a process must be silent before it
	// is moved to the ended ones without other evidence.
	presumedFor = 10

	// lateFor is how long a process of which no more can be known must be silent.
	lateFor = 24 * time.Hour
)

// Swept is what [Registry.Sweep] found.
type Swept struct {
	// Living is how many processes are living.
	Living int64
	// Ended is how many others it moved to the ended.
	Ended int64
}

// Sweep moves the processes that have crashed from the living to the ended ones, so
// that lists of the living remain short. A process that was moved and turns out to be
// alive is living again with its next heartbeat. It reads the living records only,
// and of processes with a late heartbeat the record. A program that calls it
// regularly, as "oid serve" does, also finds out which late processes are dead.
func (r *Registry) Sweep(ctx context.Context) (Swept, error) {
	return r.sweep(ctx, wall(r.options.Now).Add(-lateFor))
}

// sweep also moves processes that are not known to be alive and have sent no
// heartbeat since a time.
func (r *Registry) sweep(ctx context.Context, since time.Time) (done Swept, err error) {
	m, err := r.readMarks(ctx)
	if err != nil {
		return done, err
	}
	began := time.Now()
	var found []silent
	flush := func() error {
		n, err := r.finishDead(ctx, found, since, m.Samples)
		done.Ended += n
		found = found[:0]
		return err
	}
	for raw, err := range r.store.Find(ctx, livingRecords, store.Query{}) {
		if err != nil {
			return done, fmt.Errorf("registry: read %s: %w", livingRecords, err)
		}
		l, err := decode[living](raw, livingRecords)
		if err != nil {
			return done, err
		}
		done.Living++
		age := wall(r.options.Now).Sub(l.last.Time)
		if l.end == nil && age.Abs() <= missed*l.interval && !l.last.Time.Before(since) {
			continue
		}
		found = append(found, silent{raw: raw, l: &l})
		if len(found) == maxBatch {
			if err := flush(); err != nil {
				return done, err
			}
		}
	}
	if err := flush(); err != nil {
		return done, err
	}
	done.Living -= done.Ended
	r.forget(began)
	return done, nil
}

// silent is a living process whose heartbeat is late.
type silent struct {
	raw bson.Raw
	l   *living

	stored bson.Raw // the record, or nil
	record *record  // with what the living record says
}

// key returns the key of the record.
func (f *silent) key() string { return processKey(f.l.gpid, f.l.block()) }

// readRecords reads the records of processes.
func (r *Registry) readRecords(ctx context.Context, all []silent) error {
	keys := make([]string, len(all))
	for i := range all {
		keys[i] = all[i].key()
	}
	raws, docs, err := getMany[record](ctx, r.store, processes, keys)
	for i, doc := range docs {
		if all[i].stored, all[i].record = raws[i], doc; doc != nil {
			all[i].l.over(&doc.Process)
		}
	}
	return err
}

// finishDead moves those of the processes that are dead, and deletes the samples of
// those that ended before a time.
func (r *Registry) finishDead(ctx context.Context, found []silent, since, noSamples time.Time) (n int64, err error) {
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
		over := f.l.last.Time.Before(since) // without a record, it never registered to the end
		if f.record != nil {
			over, f.record.Gone = r.isOver(&states[0], since), states[0].gone
			states = states[1:]
		}
		if !over {
			continue
		}
		if dead = append(dead, f); f.l.last.Time.Before(noSamples) {
			pruned = append(pruned, f.l.block())
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

// forget drops what was watched of processes that were not looked at since a time.
func (r *Registry) forget(since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for member, w := range r.watched {
		if w.looked.Before(since) {
			delete(r.watched, member)
		}
	}
	for g, m := range r.remotes {
		if m.at.Before(since.Add(-time.Hour)) {
			delete(r.remotes, g)
		}
	}
}
