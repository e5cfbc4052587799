package registry

import (
	"context"
	"errors"
	"slices"
	"time"
)

// task is one kind of write that a registration needs. Both recorders of heartbeats ask
// next for it: store, which does one task of one process after the other, and
// [Registry.Heartbeats], which does writeSamples and writeLiving for many processes in one
// call of the store, and leaves the rest to store.
type task int

const (
	nothing      task = iota
	claimValues       // the block and the adopted values
	writeSamples      // the document of samples for which the living record has no room
	writeLiving       // the living record with the latest heartbeat
	writeRecord
	deleteOld // what is stored under blocks that were given up
	moveEnded // from the living to the ended
	trimSamples
	checkClaims // whether they are there, and those of rivals
)

// next returns what is to be written next of p. The newest sample waits until its
// heartbeat is stored.
func (e *enrolment) next(p *Process) task {
	hourEnded := hourOf(p.Block, p.Last.Time).After(e.trimmed)
	switch n := len(e.pending) - 1; {
	case !e.claimed:
		return claimValues
	case n >= maxRecent || n > 0 && (hourEnded || p.turn(maxRecent)):
		return writeSamples
	case e.stored == nil || e.agreed.Count != p.Last.Count:
		return writeLiving
	case e.changed:
		return writeRecord
	case len(e.left) > 0:
		return deleteOld
	case p.End != nil && e.finished:
		return nothing
	case p.End != nil:
		return moveEnded
	case hourEnded:
		return trimSamples
	case e.unchecked >= maxRecent:
		return checkClaims
	}
	return nothing
}

// turn reports whether it is the turn of p with its latest heartbeat, once in so many.
// Processes that started together have different turns.
func (p *Process) turn(heartbeats int64) bool {
	return (p.Last.Count+int64(p.Member[11]))%heartbeats == 0
}

// heartbeat records a heartbeat with the load, and stores everything that is not
// stored yet. A nil load means that it was not measured. ahead is by how much the
// ids of the process lead its clock. A non-nil end, which it dates, makes it the
// last heartbeat. The error is a [*CollisionError] if another live process has the
// same value; the heartbeat is then stored.
func (c *recorder) heartbeat(ctx context.Context, load *Load, ahead time.Duration, end *End) error {
	c.measure(load, ahead, end)
	if end == nil && c.backoff.waits(time.Now()) {
		return c.backoff.err
	}
	err := c.store(ctx, nil, nil)
	switch {
	case c.agreed.Count == c.p.Last.Count: // whatever failed afterwards, the store answers
		c.backoff = backoff{}
	case !errors.Is(err, errForeign):
		c.backoff.tried(err, c.p.Interval, time.Now())
	}
	if err == nil && end == nil && c.collision != nil {
		err = c.collision
	}
	return err
}

// measure adds a heartbeat that is still to be stored.
func (c *recorder) measure(load *Load, ahead time.Duration, end *End) {
	c.update(func(p *Process) {
		last := Heartbeat{Count: p.Last.Count + 1, Time: c.clock.stamp(ahead), Monotonic: p.Last.Monotonic, Load: p.Last.Load}
		if !p.Remote {
			last.Monotonic = monotonic()
		}
		if load != nil {
			last.Load = *load
			p.Recent = append(p.Recent, Sample{last.Time, *load}) // copies of p see what is before it
			p.Recent = p.Recent[max(0, len(p.Recent)-maxRecent):]
		}
		p.Last = last
		if end != nil {
			p.End = &End{Time: last.Time, Reason: end.Reason}
			if !end.Time.IsZero() {
				p.End.Time = end.Time
			}
		}
	})
	if c.unchecked++; c.collision != nil {
		c.unchecked = maxRecent
	}
	if load == nil {
		return
	}
	recent := c.p.Recent
	if n := len(c.pending) + 1; n <= len(recent) {
		c.pending = recent[len(recent)-n : len(recent) : len(recent)] // of which all are the latest
		return
	}
	c.pending = append(c.pending, recent[len(recent)-1])
	c.pending = c.pending[max(0, len(c.pending)-maxPending):]
}

// store writes what is not stored yet. It may be called again after an error. known and
// doc are the claims of the process and its record if they were read just now, or nil.
func (c *recorder) store(ctx context.Context, known claimsByBlock, doc *record) (err error) {
	for err == nil {
		p := &c.p
		switch c.next(p) {
		case nothing:
			return nil
		case claimValues:
			err = c.register(ctx)
			known, doc = nil, nil
		case writeSamples:
			n := len(c.pending) - 1
			if err = c.registry.putSamples(ctx, []newSamples{{p.Block, c.pending[:n]}}); err == nil {
				c.pending = slices.Clone(c.pending[n:])
			}
		case writeLiving:
			err = c.putLiving(ctx)
		case writeRecord:
			err = c.putRecord(ctx)
		case deleteOld:
			err = c.deleteLeft(ctx)
		case moveEnded:
			// The end is recorded; a sweep may do the rest later.
			l := livingOf(p, len(c.pending))
			ended := []storedProcess{{raw: c.stored, living: &l}}
			if c.registry.readRecords(ctx, ended) == nil {
				_ = c.registry.finish(ctx, ended)
			}
			c.finished = true
		case trimSamples:
			err = c.trim(ctx)
		case checkClaims:
			err = c.check(ctx, known, doc)
		}
	}
	return err
}
