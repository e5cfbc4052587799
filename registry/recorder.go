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
	registry   *Registry
	random     io.Reader // blocks are drawn from it
	clock      clock
	stored     bson.Raw        // the living record as it was last known to be stored, or nil
	left       []leftBlock     // what is to be deleted
	tried      [][8]byte       // the write of it, and those since then whose outcome is not known
	agreed     Heartbeat       // the last one in it when it was stored
	registered bool            // everything was stored once
	claimed    bool            // the block belongs to the process
	changed    bool            // the record is to be written
	pending    []Sample        // which are in no document of samples
	unchecked  int             // heartbeats since the last check
	collision  *CollisionError // as of the last check, or nil
	trimmed    time.Time       // when old samples were last deleted
	backoff    backoff

	mu sync.Mutex // guards p
	p  Process
}

// leftBlock holds the keys of what is stored under a block that belongs to another
// process since.
type leftBlock struct{ living, record string }

// newRecorder returns the recorder of a process that is not stored yet.
func (r *Registry) newRecorder(p Process) *recorder {
	c := &recorder{registry: r, random: r.random, clock: clock{now: r.options.Now}, changed: true, unchecked: ring}
	c.trimmed = c.clock.stamp(0)
	if p.From.IsZero() {
		p.From = c.trimmed
	}
	c.p = p
	return c
}

// openRecorder returns the recorder of a stored process. Its living record l was
// stored as given; both are nil if there is none.
func (r *Registry) openRecorder(p Process, stored bson.Raw, l *living) *recorder {
	c := &recorder{
		registry: r, random: r.random, clock: clock{now: r.options.Now, last: p.Last.Time},
		stored: stored, registered: true, claimed: true, changed: stored == nil,
		unchecked: ring, trimmed: p.Last.Time, p: p,
	}
	if l != nil {
		c.pending = slices.Clone(l.recent[len(l.recent)-l.unstored:])
	}
	return c
}

// process returns a copy of what is recorded, or about to be.
func (c *recorder) process() Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p
}

func (c *recorder) livingKey() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return livingKey(c.p.Block, c.p.Member)
}

func (c *recorder) update(change func(p *Process)) Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.p)
	return c.p
}

// heartbeat records a heartbeat with the load, and stores everything that is not
// stored yet. A nil load means that it was not measured. ahead is by how much the
// ids of the process lead its clock. A non-nil end, which it dates, makes it the
// last heartbeat. The error is a [*CollisionError] if another live process has the
// same value; the heartbeat is then stored.
func (c *recorder) heartbeat(ctx context.Context, load *Load, ahead time.Duration, end *End) error {
	p := c.measure(load, ahead, end)
	if end == nil && c.backoff.waits(time.Now()) {
		return c.backoff.err
	}
	err := c.store(ctx)
	if !errors.Is(err, errForeign) {
		c.backoff.tried(err, p.Interval, time.Now())
	}
	if err != nil || end != nil {
		return err
	}
	if c.unchecked++; c.unchecked >= ring || c.collision != nil {
		if err := c.check(ctx); err != nil {
			return err
		}
	}
	if c.collision != nil {
		return c.collision
	}
	return nil
}

// measure adds a heartbeat that is still to be stored.
func (c *recorder) measure(load *Load, ahead time.Duration, end *End) Process {
	p := c.update(func(p *Process) {
		last := Heartbeat{Count: p.Last.Count + 1, Time: c.clock.stamp(ahead), Monotonic: p.Last.Monotonic, Load: p.Last.Load}
		if !p.Remote {
			last.Monotonic = monotonic()
		}
		if load != nil {
			last.Load = *load
			p.Recent = append(slices.Clone(p.Recent), Sample{last.Time, *load})
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
	if load != nil {
		c.pending = append(c.pending, Sample{p.Last.Time, *load})
		c.pending = c.pending[max(0, len(c.pending)-maxPending):]
	}
	return p
}

// store writes what is not stored yet: the claim, the living record, the record and
// the samples that the living record has no room for. It may be called again after
// an error.
func (c *recorder) store(ctx context.Context) error {
	if !c.claimed {
		if err := c.register(ctx); err != nil {
			return err
		}
	}
	// The newest sample waits until its heartbeat is stored.
	if n := len(c.pending) - 1; n >= ring {
		if err := c.registry.storeSamples(ctx, c.process().Block, c.pending[:n]); err != nil {
			return err
		}
		c.pending = slices.Clone(c.pending[n:])
	}
	if err := c.putLiving(ctx); err != nil {
		return err
	}
	if c.changed {
		if err := c.putRecord(ctx); err != nil {
			return err
		}
	}
	c.registered = true
	if err := c.deleteLeft(ctx); err != nil {
		return err
	}
	if p := c.process(); p.End != nil {
		l := livingOf(&p, len(c.pending))
		_ = c.registry.finish(ctx, c.stored, l, livingKey(p.Block, p.Member)) // the end is recorded; the rest may be done later
		return nil
	}
	return c.trim(ctx)
}

// check finds the rivals of the process, and stores again what was lost.
func (c *recorder) check(ctx context.Context) error {
	p := c.process()
	claims, err := c.registry.claims(ctx, p.claims())
	if err != nil {
		return err
	}
	return c.checkIn(ctx, claims, nil)
}

// checkIn is check with the claims of the process, and its record or nil.
func (c *recorder) checkIn(ctx context.Context, claims claims, doc *record) error {
	p := c.process()
	collision, claimed, err := c.registry.rivalsIn(ctx, claims, &p)
	if err == nil && claimed && p.adopted() {
		claimed, err = claims.has(&p)
	}
	if err == nil && !claimed {
		doc = nil
		if err = c.claimAgain(ctx); err == nil {
			p = c.process()
			collision, _, err = c.registry.rivals(ctx, &p)
		}
	}
	if err != nil {
		return err
	}
	if doc == nil {
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
// the stored record is another one.
func (c *recorder) putLiving(ctx context.Context) error {
	err := c.writeLiving(ctx)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrDuplicate) {
		// The reply to an earlier attempt was lost, a backup of the store was restored,
		// or another one wrote. Only a backup can have what was there before.
		var l *living
		switch c.stored, l, err = c.registry.living(ctx, c.livingKey()); {
		case errors.Is(err, store.ErrNotFound):
			err = c.livingDeleted()
		case err == nil && (l.last.Count < c.agreed.Count || l.write == c.tried[0]):
			c.changed, c.unchecked = true, ring
		case err == nil && !slices.Contains(c.tried, l.write):
			err = errForeign
		}
		if err == nil {
			err = c.writeLiving(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("registry: store heartbeat of %v: %w", c.process().GPID, err)
	}
	c.tried, c.agreed = c.tried[len(c.tried)-1:], c.process().Last
	return nil
}

// livingDeleted notes that the living record was deleted, so that the next write inserts
// it, and that more may be lost. The error is errForeign for a remote process: another Registry may have recorded
// its end.
func (c *recorder) livingDeleted() error {
	c.stored, c.changed, c.unchecked = nil, true, ring // the record may say so
	if c.process().Remote {
		return errForeign
	}
	return nil
}

// writeLiving writes the living record once, in the place of c.stored.
func (c *recorder) writeLiving(ctx context.Context) error {
	p := c.process()
	l := livingOf(&p, len(c.pending))
	c.tried = append(c.tried, l.write)
	doc := l.encode(c.livingKey())
	if c.stored != nil {
		stored, err := c.registry.store.Swap(ctx, livingRecords, c.stored, doc)
		if err == nil {
			c.stored = stored
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := c.livingDeleted(); err != nil {
			return err
		}
	}
	if _, err := c.registry.store.Insert(ctx, livingRecords, doc); err != nil {
		return err
	}
	raw, _, err := c.registry.living(ctx, c.livingKey())
	c.stored = raw
	return err
}

// putRecord stores the record, on top of what others recorded of the process.
func (c *recorder) putRecord(ctx context.Context) error {
	doc := recordOf(c.process())
	put := func() error {
		err := store.ErrNotFound
		var raw bson.Raw
		if c.registered {
			raw, err = c.registry.store.Get(ctx, processes, key(doc.Key))
		}
		if errors.Is(err, store.ErrNotFound) {
			if _, err = c.registry.store.Insert(ctx, processes, doc); !errors.Is(err, store.ErrDuplicate) {
				return err
			}
			raw, err = c.registry.store.Get(ctx, processes, key(doc.Key))
		}
		if err != nil {
			return err
		}
		before, err := decode[record](raw, processes)
		if err != nil {
			return err
		}
		if before.End != nil && doc.End == nil {
			_ = c.registry.store.DeleteIf(ctx, livingRecords, c.stored)
			return ErrEnded
		}
		if doc.Copied.IsZero() {
			doc.Copied = before.Copied
		}
		doc.addAdopted(before.Adopted) // others may have added samples
		if _, err = c.registry.store.Swap(ctx, processes, raw, doc); err == nil && before.Final {
			err = c.registry.unfinish(ctx, &before)
		}
		return err
	}
	err := put()
	for errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		err = put()
	}
	if err != nil {
		return fmt.Errorf("registry: store record of %v: %w", doc.GPID, err)
	}
	c.changed = false
	return nil
}
