package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxPending is how many samples are kept while the store cannot be reached: those of an
// hour at the default interval.
const maxPending = 360

// recorder writes all that the registry stores of one process: its claim, its
// record, its living record and its samples. One goroutine at a time may write with
// it; process may be called by others meanwhile.
type recorder struct {
	registry *Registry
	random   io.Reader // blocks are drawn from it
	clock    clock
	backoff  backoff
	registration

	mu sync.Mutex // guards p; the writer need not lock it to read p
	p  Process
}

// registration is how much of the registration of a process is stored. One that registers
// again, because it was copied, gets another one.
//
// The steps below and in steps.go take it through these states; what is not named is any:
//
//	new          not claimed, not registered, changed, stored nil
//	claimed      claimed, not registered, changed: the claim is stored, the record not yet
//	registered   claimed, registered; changed after something new for the record
//	lost         registered, not claimed: a check found no claim. It claims its block
//	             again, or another one, and the one before goes to left
//	ended        registered, p.End set; finished once it was moved to the ended
//
// In each of them the process may create ids. Always: not registered means changed, and
// finished means that p.End is set. agreed is what stored says of the latest heartbeat,
// and tried[0] is the write of stored, if this recorder has written that. pending and
// p.Recent end with the same samples.
type registration struct {
	claimed    bool            // the block belongs to the process
	registered bool            // the record was stored once
	changed    bool            // the record is to be written
	finished   bool            // the process has ended and is not among the living
	stored     bson.Raw        // the living record as it was last known to be stored, or nil
	agreed     Heartbeat       // the last one in it when it was stored
	tried      [][8]byte       // the write of it, and those since then whose outcome is not known
	pending    []Sample        // which are in no document of samples
	left       []MemberKey     // of blocks that belong to others since: what is stored is deleted
	trimmed    time.Time       // when old samples were last deleted
	unchecked  int             // heartbeats since the last check
	collision  *CollisionError // as of the last check, or nil
}

// newRecorder returns the recorder of a process that is not stored yet.
func (r *Registry) newRecorder(p Process) *recorder {
	c := &recorder{registry: r, random: r.random, clock: clock{now: r.options.Now}}
	c.registration = registration{changed: true, unchecked: maxRecent, trimmed: c.clock.stamp(0)}
	// The first heartbeat may have this millisecond: with the next one a second may begin, and
	// ids of this second have no sample before them then.
	c.clock.last = c.trimmed.Add(-time.Millisecond)
	if p.From.IsZero() {
		p.From = c.trimmed
	}
	c.p = p
	return c
}

// openRecorder returns the recorder of a stored process.
func (r *Registry) openRecorder(m *storedProcess) *recorder {
	c := r.newRecorder(m.record.Process)
	c.open(m.living)
	return c
}

// open makes a new recorder that of a stored process with a living record, or nil if there
// is none.
func (c *recorder) open(l *living) {
	c.clock.last = c.p.Last.Time
	c.registration = registration{
		claimed: true, registered: true, changed: l == nil, tried: c.tried[:0], agreed: c.p.Last,
		trimmed: c.p.Last.Time, unchecked: maxRecent,
	}
	if l != nil {
		c.stored = l.raw
		c.pending = l.recent[len(l.recent)-l.unstored : len(l.recent) : len(l.recent)]
	}
}

// process returns a copy of what is recorded, or about to be.
func (c *recorder) process() Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.p
	p.Recent = slices.Clip(p.Recent)
	return p
}

func (c *recorder) update(change func(p *Process)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.p)
}

// startOver makes the recorder one of a new registration, after a copy of this
// process wrote its living record. The record says from then on that there are
// copies, and the living record is written, so that the other copy finds out, too.
func (c *recorder) startOver(ctx context.Context) error {
	if err := c.noteCopy(ctx); err != nil {
		return fmt.Errorf("registry: record the copy of %v: %w", c.process().GPID, err)
	}
	agreed := c.agreed.Time
	c.registration = registration{changed: true, unchecked: maxRecent, trimmed: c.trimmed, left: c.left}
	c.update(func(p *Process) {
		p.Member, p.Block, p.Registered, p.Last.Count, p.Recent = randomID(), "", monotonic(), 0, nil
		if p.adopted() {
			p.Copied = agreed
		} else {
			p.Value, p.From = "", c.clock.wall() // the new generator follows the clock, also if it was set back
		}
	})
	return nil
}

func (c *recorder) noteCopy(ctx context.Context) error {
	p, s := c.process(), c.registry.store
	_, err := amend(ctx, s, processRecords, processKey(p.GPID, p.Block), func(doc *record) error {
		if !doc.Copied.IsZero() && !c.agreed.Time.Before(doc.Copied) {
			return errAsIs // the other copy has said so, or this one before the store failed
		}
		doc.Copied = c.agreed.Time
		return nil
	})
	if err == nil {
		_, err = amend(ctx, s, livingRecords, livingKey(p.Block, p.Member), func(l *living) error {
			l.write = newWrite()
			return nil
		})
	}
	return unlessNotFound(err)
}

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
func (r *registration) next(p *Process) task {
	hourEnded := hourOf(p.Block, p.Last.Time).After(r.trimmed)
	switch n := len(r.pending) - 1; {
	case !r.claimed:
		return claimValues
	case n >= maxRecent || n > 0 && (hourEnded || p.turn(maxRecent)):
		return writeSamples
	case r.stored == nil || r.agreed.Count != p.Last.Count:
		return writeLiving
	case r.changed:
		return writeRecord
	case len(r.left) > 0:
		return deleteOld
	case p.End != nil && r.finished:
		return nothing
	case p.End != nil:
		return moveEnded
	case hourEnded:
		return trimSamples
	case r.unchecked >= maxRecent:
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
		c.backoff.failed(err, c.p.Interval, time.Now())
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
			l.raw = c.stored
			ended := []storedProcess{{living: &l}}
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
