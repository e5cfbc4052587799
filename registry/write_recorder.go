package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxUnstored is how many samples are kept while the store cannot be reached: those of one
// hour at the default interval.
const maxUnstored = 360

// recorder writes all that the registry stores of one process: its claims, its record, its
// living record and its samples. A [Member] has one recorder for its life; for a remote
// process each call opens one. One goroutine at a time may write with it; others may call
// process meanwhile.
//
// The life of a registration, with the tasks that lead from one state to the next. The type
// registration defines the states.
//
//	new <------------------------------------------------------------+
//	 |                                                               |
//	 | claimValues                                                   |
//	 v                                                               |
//	claimed                                                          | registerAfterCopy:
//	 |                                                               | putLiving has returned
//	 | writeLiving, writeRecord                                      | errOverwritten
//	 v                                                               |
//	registered ------------------------------------------------------+
//	 |  |  ^  ^
//	 |  |  |  |
//	 |  |  |  +--- writeLiving, writeRecord, deleteAbandoned --- incomplete
//	 |  |  |                                                         ^
//	 |  |  |                                                         | claimValues: another block
//	 |  |  |                                                         |
//	 |  |  +------ claimValues: the same block ----------------- unclaimed
//	 |  |                                                            ^
//	 |  +--------- checkClaims: a claim of the process is missing ---+
//	 |
//	 | End
//	 v
//	ended
//	 |
//	 | moveEnded
//	 v
//	finished
//
// putLiving can return errOverwritten in every state in which it writes, and also makes a
// registration incomplete if the living record is missing. Before End in another state than
// registered takes effect, the tasks that lead to registered are done.
//
// A member with a generator creates ids in each of these states, and nothing here waits for
// another process. Every task is written to be done again: after an error the next heartbeat
// asks next for the first thing that is not stored, and begins there. A write that has failed
// may be stored all the same, because only its answer was lost; insertClaim and confirmLiving
// read what is there and find out. docs/design.md follows a lost answer through the functions,
// see "The store loses the answer to a claim".
type recorder struct {
	registry *Registry
	random   io.Reader // blocks are drawn from it
	clock    clock
	failing  failing
	registration
	described bool // the description differs from the stored one, or once did

	mu sync.Mutex // guards p; the writer need not lock it to read p
	p  Process
}

// registration is what is stored of the registration of a process, and what is due.
//
//	state       claimed  recordStored  also
//	new         no       no            no living record is stored
//	claimed     yes      no
//	registered  yes      yes           stored is set
//	incomplete  yes      yes           stored is nil: there is no living record under the block
//	unclaimed   no       yes           the block may belong to another process now
//	ended       yes      yes           stored and p.End are set
//	finished    yes      yes           stored, p.End and finished are set
//
// The record is due until recordStored is set. unstored and p.Recent end with the same
// samples.
type registration struct {
	claimed      bool // the block and the adopted values belong to the process
	recordStored bool // the record was stored once
	recordDue    bool // the record has something new
	finished     bool // the process has ended and is not among the living

	stored      bson.Raw  // the living record as this recorder last read or wrote it, or nil if there is none
	storedWrite [8]byte   // living.write of stored
	storedBeat  Heartbeat // the latest heartbeat in stored
	inFlight    [][8]byte // living.write of each attempt to replace stored whose outcome is not known, oldest first

	blockUnused bool // no ids have the block before the record is stored

	unstored   []Sample        // samples that are in no document of samples
	abandoned  []MemberKey     // earlier registrations whose documents must be deleted: their blocks belong to others
	trimmed    time.Time       // when old samples were last deleted
	sinceCheck int             // heartbeats since the claims were last checked
	collision  *CollisionError // found by the last check, or nil
}

// newRecorder returns the recorder of a process that is not stored yet.
func (r *Registry) newRecorder(p Process) *recorder {
	c := &recorder{registry: r, random: r.random, clock: clock{now: r.options.Now}}
	c.registration = registration{recordDue: true, sinceCheck: maxRecent, trimmed: c.clock.stamp(0)}
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

// open makes a new recorder the recorder of a stored process. l is the living record, or
// nil if there is none.
func (c *recorder) open(l *living) {
	c.clock.last = c.p.Last.Time
	c.registration = registration{
		claimed: true, recordStored: true, recordDue: l == nil, storedBeat: c.p.Last,
		trimmed: c.p.Last.Time, sinceCheck: maxRecent,
	}
	if l != nil {
		c.stored, c.storedWrite = l.raw, l.write
		c.unstored = l.recent[len(l.recent)-l.unstored : len(l.recent) : len(l.recent)]
	}
}

// process returns a copy of what is recorded or about to be recorded.
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

// describe changes what the process says of itself. A nil d changes nothing, and an empty name or
// version leaves that of before.
func (c *recorder) describe(d *Description) {
	if d == nil || cmp.Or(d.Name, c.p.Name) == c.p.Name && cmp.Or(d.Version, c.p.Version) == c.p.Version && maps.Equal(d.Labels, c.p.Labels) {
		return
	}
	c.update(func(p *Process) {
		p.Name, p.Version, p.Labels = cmp.Or(d.Name, p.Name), cmp.Or(d.Version, p.Version), d.Labels
	})
	c.recordDue, c.described = true, true
}

// registerAfterCopy begins a new registration after a copy of this process has written the
// living record.
func (c *recorder) registerAfterCopy(ctx context.Context) error {
	if err := c.recordCopy(ctx); err != nil {
		return fmt.Errorf("registry: record the copy of %v: %w", c.process().GPID, err)
	}
	alone := c.storedBeat.Time // until then there was no copy
	c.registration = registration{recordDue: true, sinceCheck: maxRecent, trimmed: c.trimmed, abandoned: c.abandoned, blockUnused: true}
	c.update(func(p *Process) {
		p.Member, p.Block, p.Registered, p.Last.Count, p.Recent = randomID(), "", monotonic(), 0, nil
		if p.adopted() {
			p.Copied = alone
		} else {
			p.Value, p.From = "", c.clock.wall() // the new generator follows the clock, also if it was set back
		}
	})
	return nil
}

// recordCopy notes the copy in the record that both copies have, and changes the living
// record, so that the next heartbeat of the other copy fails and it finds out, too. Without
// a record, it changes nothing: then the other copy keeps the registration.
func (c *recorder) recordCopy(ctx context.Context) error {
	p, s := c.process(), c.registry.store
	_, err := amend(ctx, s, processRecords, processKey(p.GPID, p.Block), func(doc *record) error {
		if !doc.Copied.IsZero() && !c.storedBeat.Time.Before(doc.Copied) {
			return errUnchanged // the other copy has said so, or this one before the store failed
		}
		doc.Copied = c.storedBeat.Time
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

// task is a kind of write that a registration needs.
type task int

const (
	nothing         task = iota
	claimValues          // the block and the adopted values
	writeSamples         // the document of samples for which the living record has no room
	writeLiving          // the living record with the latest heartbeat
	writeRecord          // the record
	deleteAbandoned      // what is stored under blocks that now belong to others
	moveEnded            // from the living to the ended
	trimSamples          // join the documents of an hour, and delete old ones
	checkClaims          // whether they are there, and those of rivals
)

// next returns the first task that is due for p. The newest sample is not due before its
// heartbeat is stored.
func (r *registration) next(p *Process) task {
	hourEnded := hourOf(p.Block, p.Last.Time).After(r.trimmed)
	switch n := len(r.unstored) - 1; {
	case !r.claimed:
		return claimValues
	case n >= maxRecent || n > 0 && (hourEnded || p.due(maxRecent)):
		return writeSamples
	case r.stored == nil || r.storedBeat.Count != p.Last.Count:
		return writeLiving
	case r.recordDue:
		return writeRecord
	case len(r.abandoned) > 0:
		return deleteAbandoned
	case p.End != nil && r.finished:
		return nothing
	case p.End != nil:
		return moveEnded
	case hourEnded:
		return trimSamples
	case r.sinceCheck >= maxRecent:
		return checkClaims
	}
	return nothing
}

// due reports whether a task that p does with every n-th heartbeat is due. Processes that
// started together do it with different heartbeats.
func (p *Process) due(every int64) bool {
	return (p.Last.Count+int64(p.Member[11]))%every == 0
}

// heartbeat records a heartbeat, and stores everything that is not stored yet. A nil load
// was not measured. ahead is by how much the ids of the process lead its clock. If end is
// not nil, the heartbeat is the last one, and end gets its time. With a [*CollisionError]
// the heartbeat is stored: another live process has the same value.
func (c *recorder) heartbeat(ctx context.Context, load *Load, ahead time.Duration, end *End) error {
	c.measure(load, ahead, end)
	if end == nil && c.failing.waits(time.Now()) {
		return c.failing.err
	}
	err := c.store(ctx, nil, nil)
	switch {
	case c.storedBeat.Count == c.p.Last.Count: // whatever failed afterwards, the store answers
		c.failing = failing{}
	case !errors.Is(err, errOverwritten):
		c.failing.failed(err, c.p.Interval, time.Now())
	}
	if err == nil && end == nil && c.collision != nil {
		err = c.collision
	}
	return err
}

// measure adds a heartbeat that is not stored yet.
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
	if c.sinceCheck++; c.collision != nil {
		c.sinceCheck = maxRecent
	}
	if load == nil {
		return
	}
	recent := c.p.Recent
	if n := len(c.unstored) + 1; n <= len(recent) {
		c.unstored = recent[len(recent)-n : len(recent) : len(recent)] // all of them are in recent
		return
	}
	c.unstored = append(c.unstored, recent[len(recent)-1])
	c.unstored = c.unstored[max(0, len(c.unstored)-maxUnstored):]
}

// store does all tasks that are due. It may be called again after an error. known and doc
// are the claims of the process and its record if they were read just now, otherwise nil.
func (c *recorder) store(ctx context.Context, known claimsByBlock, doc *record) (err error) {
	for err == nil {
		p := &c.p
		switch c.next(p) {
		case nothing:
			return nil
		case claimValues:
			err = c.claimAll(ctx)
			known, doc = nil, nil
		case writeSamples:
			n := len(c.unstored) - 1
			if err = c.registry.putSamples(ctx, []newSamples{{p.Block, c.unstored[:n]}}); err == nil {
				c.unstored = slices.Clone(c.unstored[n:])
			}
		case writeLiving:
			err = c.putLiving(ctx)
		case writeRecord:
			err = c.putRecord(ctx)
		case deleteAbandoned:
			err = c.deleteAbandoned(ctx)
		case moveEnded:
			// The end is recorded; a sweep may do the rest later.
			l := livingOf(p, len(c.unstored))
			l.raw = c.stored
			ended := []storedProcess{{living: &l}}
			if c.registry.readRecords(ctx, ended) == nil {
				_ = c.registry.moveToEnded(ctx, ended)
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
