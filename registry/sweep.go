package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	r.memory.forget(began)
	return done, nil
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
	if errors.Is(err, store.ErrNotFound) {
		return marks{}, nil
	}
	return m, err
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
