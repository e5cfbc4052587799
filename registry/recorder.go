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

	"github.com/oidkit/oid/store"
)

const (
	// maxPending is how many samples are kept while the store cannot be reached:
	// those of an hour at the default interval.
	maxPending = 360
)

// recorder writes all that the registry stores of one process: its claim, its
// record, its living record and its samples. One goroutine at a time may write with
// it; process may be called by others meanwhile.
type recorder struct {
	registry *Registry
	random   io.Reader // blocks are drawn from it
	clock    clock
	backoff  backoff
	enrolment

	mu sync.Mutex // guards p; the writer need not lock it to read p
	p  Process
}

// enrolment is how far a registration of a process is stored. A process that registers
// again, because it was copied, gets another one.
type enrolment struct {
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

// step is one kind of write that a registration needs.
type step int

const (
	nothing      step = iota
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
func (e *enrolment) next(p *Process) step {
	switch n := len(e.pending) - 1; {
	case !e.claimed:
		return claimValues
	case n >= ring || n > 0 && p.turn(ring):
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
	case hour(p.Block, p.Last.Time).After(e.trimmed):
		return trimSamples
	case e.unchecked >= ring:
		return checkClaims
	}
	return nothing
}

// turn reports whether it is the turn of p with its latest heartbeat, once in so many.
// Processes that started together have different turns.
func (p *Process) turn(heartbeats int64) bool {
	return (p.Last.Count+int64(p.Member[11]))%heartbeats == 0
}

// newRecorder returns the recorder of a process that is not stored yet.
func (r *Registry) newRecorder(p Process) *recorder {
	c := &recorder{registry: r, random: r.random, clock: clock{now: r.options.Now}}
	c.enrolment = enrolment{changed: true, unchecked: ring, trimmed: c.clock.stamp(0)}
	if p.From.IsZero() {
		p.From = c.trimmed
	}
	c.p = p
	return c
}

// openRecorder returns the recorder of a stored process.
func (r *Registry) openRecorder(m *storedMember) *recorder {
	c := r.newRecorder(*m.process)
	c.open(m.stored, m.living)
	return c
}

// open makes a new recorder that of a stored process. Its living record l was stored as
// given; both are nil if there is none.
func (c *recorder) open(stored bson.Raw, l *living) {
	c.clock.last = c.p.Last.Time
	c.enrolment = enrolment{
		claimed: true, registered: true, changed: stored == nil, tried: c.tried[:0],
		stored: stored, agreed: c.p.Last, trimmed: c.p.Last.Time, unchecked: ring,
	}
	if l != nil {
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
			p.Recent = p.Recent[max(0, len(p.Recent)-ring):]
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
		c.unchecked = ring
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
func (c *recorder) store(ctx context.Context, known claims, doc *record) (err error) {
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
			ended := []silent{{raw: c.stored, l: &l}}
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

// check finds the rivals of the process, and finds out what was lost, for the next
// steps. known and doc are as in store.
func (c *recorder) check(ctx context.Context, known claims, doc *record) (err error) {
	p := c.process()
	if known == nil {
		if known, err = c.registry.claims(ctx, p.claims()); err != nil {
			return err
		}
	}
	collision, claimed, err := c.registry.rivalsIn(ctx, known, &p)
	if err == nil && claimed && p.adopted() {
		claimed, err = known.has(&p)
	}
	if err == nil && !claimed {
		// The claim was deleted, with a backup that was restored or by a lost write.
		// Another process may have claimed the block since: both then have the value,
		// which is a collision.
		c.claimed, c.changed = false, true
		return nil
	}
	if err == nil && doc == nil {
		doc = new(record)
		*doc, err = get[record](ctx, c.registry.store, processes, processKey(p.GPID, p.Block))
	}
	if err == nil {
		c.update(func(p *Process) { p.addAdopted(doc.Adopted) }) // others may have added samples
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && doc.Final && doc.End == nil {
		err = c.putRecord(ctx)
	}
	if errors.Is(err, ErrEnded) { // recorded by another Registry after this heartbeat
		err = nil
	}
	if err == nil {
		c.collision, c.unchecked = collision, 0
	}
	return err
}

// errForeign means that the living record was written by another recorder.
var errForeign = errors.New("registry: the record was written by another process")

// putLiving stores the living record, also if it was deleted. It replaces only what
// this recorder has stored itself, or was opened with: the error wraps errForeign if
// the stored record is another one. It may have to be called again.
func (c *recorder) putLiving(ctx context.Context) (err error) {
	l := c.try()
	var stored bson.Raw
	if c.stored == nil {
		_, err = c.registry.store.Insert(ctx, livingRecords, l)
	} else {
		stored, err = c.registry.store.Swap(ctx, livingRecords, c.stored, l)
	}
	switch {
	case stored != nil:
		c.agree(stored)
	case err == nil, errors.Is(err, store.ErrDuplicate), errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound):
		err = c.readLiving(ctx, l.key)
	}
	if err != nil {
		err = fmt.Errorf("registry: store heartbeat of %v: %w", c.p.GPID, err)
	}
	return err
}

// readLiving finds out what is stored instead of what the recorder knows: its own write,
// of which the reply was lost, what was there before, which only a restored backup can
// have, or what another one wrote.
func (c *recorder) readLiving(ctx context.Context, k string) error {
	stored, l, err := c.registry.living(ctx, k)
	deleted := errors.Is(err, store.ErrNotFound)
	switch {
	case deleted && c.p.Remote: // another Registry may have recorded its end
		return errForeign
	case err != nil && !deleted:
		return err
	case deleted || l.last.Count < c.agreed.Count || l.write == c.tried[0] && len(c.tried) > 1: // more may be lost
		c.changed, c.unchecked = true, ring
	case !slices.Contains(c.tried, l.write):
		return errForeign
	}
	if c.stored = stored; !deleted && l.write == c.tried[len(c.tried)-1] {
		c.agree(stored)
	}
	return nil
}

// try returns the living record that is to be written, and notes that it is tried.
func (c *recorder) try() living {
	l := livingOf(&c.p, len(c.pending))
	c.tried = append(c.tried, l.write)
	return l
}

// agree notes that the living record was stored as given.
func (c *recorder) agree(stored bson.Raw) {
	c.stored, c.tried, c.agreed = stored, c.tried[len(c.tried)-1:], c.p.Last
}

// putRecord stores the record, on top of what others recorded of the process.
func (c *recorder) putRecord(ctx context.Context) error {
	doc := recordOf(c.process())
	var before record
	put := func(stored *record) error {
		before = *stored
		if before.End != nil && doc.End == nil {
			_ = c.registry.store.DeleteIf(ctx, livingRecords, c.stored)
			return ErrEnded
		}
		*stored = doc
		if doc.Copied.IsZero() {
			stored.Copied = before.Copied
		}
		stored.addAdopted(before.Adopted) // others may have added samples
		return nil
	}
	err := store.ErrNotFound
	if c.registered {
		_, err = amend(ctx, c.registry.store, processes, doc.Key, put)
	}
	for errors.Is(err, store.ErrNotFound) {
		if _, err = c.registry.store.Insert(ctx, processes, doc); errors.Is(err, store.ErrDuplicate) {
			_, err = amend(ctx, c.registry.store, processes, doc.Key, put)
		}
	}
	if err == nil && before.Final {
		err = c.registry.unfinish(ctx, &before)
	}
	if err != nil {
		return fmt.Errorf("registry: store record of %v: %w", doc.GPID, err)
	}
	c.changed, c.registered = false, true
	return nil
}
