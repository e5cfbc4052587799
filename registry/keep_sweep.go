package registry

import (
	"context"
	"time"

	"github.com/oidkit/oid/store"
)

const (
	// presumedFor is for how many times its patience a process must be late before it is
	// moved to the ended ones without other evidence.
	presumedFor = 10

	// lateFor is how long a process must be late if nothing else can be known about it.
	lateFor = 24 * time.Hour
)

// Sweep removes processes that have died from the list of the living ones, so that this
// list remains fast to read, and returns how many it removed. A removed process that turns
// out to be alive returns with its next heartbeat. A program that calls Sweep regularly
// with the same Registry also finds out which late processes are dead.
func (r *Registry) Sweep(ctx context.Context) (int64, error) {
	return r.sweep(ctx, wall(r.options.Now).Add(-lateFor))
}

// sweep is Sweep that also moves processes that are not known to be alive and have sent no
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

// finishDead moves those of found that are dead to the ended ones. Of those that ended
// before noSamples, it also deletes the samples.
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
			over, f.record.Gone = r.isOver(&states[0], since), states[0].goneFrom
			states = states[1:]
		}
		if !over {
			continue
		}
		if dead = append(dead, f); f.living.last.Time.Before(noSamples) {
			pruned = append(pruned, f.living.block())
		}
	}
	if err := r.moveToEnded(ctx, dead); err != nil {
		return 0, err
	}
	if _, err := r.deleteSamples(ctx, pruned, noSamples); err != nil {
		return 0, err
	}
	return int64(len(dead)), nil
}

// isOver reports whether a process can be moved to the ended ones.
func (r *Registry) isOver(s *Status, since time.Time) bool {
	late := wall(r.options.Now).Sub(s.Last.Time)
	switch {
	case s.State == Ended, s.State == Dead && !s.Presumed:
		return true
	case s.State == Alive:
		return false
	}
	return s.State == Dead && late.Abs() > presumedFor*s.patience() || s.Last.Time.Before(since)
}
