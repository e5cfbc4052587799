package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

const (
	// maxPending is how many samples are kept while the store cannot be reached:
	// those of an hour at the default interval.
	maxPending = 360

	// trimInterval is how often a process deletes its old samples.
	trimInterval = time.Hour
)

// recorder writes all that the registry stores of one process: its claim, its
// record and its samples. One goroutine at a time may write with it; process may be
// called by others meanwhile.
type recorder struct {
	registry   *Registry
	clock      clock
	stored     bson.Raw      // the record as it was last known to be stored, or nil
	tried      []objectid.ID // the writes since then whose outcome is not known
	agreed     time.Time     // the last heartbeat in the record when it was stored
	registered bool          // the record was stored
	claimed    bool          // the block belongs to the process
	pending    []Heartbeat   // whose samples are not stored yet
	trimmed    time.Time     // when old samples were last deleted

	mu sync.Mutex // guards p
	p  Process
}

// newRecorder returns the recorder of a process that is not stored yet.
func (r *Registry) newRecorder(p Process) *recorder {
	c := &recorder{registry: r, clock: clock{now: r.options.Now}}
	c.trimmed = c.clock.stamp(0)
	if p.From.IsZero() {
		p.From = c.trimmed
	}
	c.p = p
	return c
}

// openRecorder returns the recorder of a stored process.
func (r *Registry) openRecorder(p Process, stored bson.Raw) *recorder {
	return &recorder{
		registry: r, clock: clock{now: r.options.Now, last: p.Last.Time},
		stored: stored, registered: true, claimed: true,
		trimmed: p.Last.Time.Truncate(trimInterval), // the first heartbeat of an hour trims
		p:       p,
	}
}

// process returns a copy of what is recorded, or about to be.
func (c *recorder) process() Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p
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
	p := c.update(func(p *Process) {
		last := Heartbeat{Count: p.Last.Count + 1, Time: c.clock.stamp(ahead), Monotonic: p.Last.Monotonic, Load: p.Last.Load}
		if !p.Remote {
			last.Monotonic = monotonic()
		}
		if load != nil {
			last.Load = *load
		}
		p.Last = last
		if end != nil {
			p.End = &End{Time: last.Time, Reason: end.Reason}
		}
	})
	if load != nil {
		c.pending = append(c.pending, p.Last)
		c.pending = c.pending[max(0, len(c.pending)-maxPending):]
	}
	if err := c.store(ctx); err != nil || end != nil {
		return err
	}
	p = c.process()
	rivals, claimed, err := c.registry.rivals(ctx, &p)
	if err == nil && !claimed {
		if err = c.claimAgain(ctx); err == nil {
			p = c.process()
			rivals, _, err = c.registry.rivals(ctx, &p)
		}
	}
	if err != nil {
		return err
	}
	if len(rivals) > 0 {
		return &CollisionError{Value: p.Value, Others: rivals}
	}
	return nil
}

// store writes what is not stored yet: the claim, the record and the samples. It
// may be called again after an error.
func (c *recorder) store(ctx context.Context) error {
	if !c.registered {
		if err := c.register(ctx); err != nil {
			return err
		}
	}
	if err := c.putRecord(ctx); err != nil {
		return err
	}
	return c.putSamples(ctx)
}

// claimAgain registers a process whose claim was deleted, with a backup that was
// restored or by a lost write. Meanwhile another process may have claimed the block:
// both then have the value, which is a collision.
func (c *recorder) claimAgain(ctx context.Context) error {
	before, stored := c.process(), c.stored
	c.claimed = false
	if err := c.register(ctx); err != nil {
		return err
	}
	if c.process().Block == before.Block {
		return c.putRecord(ctx)
	}
	c.stored = nil // under another key
	if err := c.putRecord(ctx); err != nil {
		return err
	}
	if err := c.registry.store.DeleteIf(ctx, processes, stored); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("registry: delete record of %v: %w", before.GPID, err)
	}
	return nil
}

// register claims a block and stores which value the process has.
func (c *recorder) register(ctx context.Context) error {
	if err := c.claimBlock(ctx); err != nil {
		return err
	}
	p := c.process()
	if p.Value != p.Block {
		h := holding{Key: adoptionKey(p.Value, p.From, p.Block), Format: format, Process: processKey(p.GPID, p.Block), Member: p.Member}
		if _, err := c.registry.store.Insert(ctx, values, h); err != nil && !errors.Is(err, store.ErrDuplicate) {
			return fmt.Errorf("registry: adopt value %s: %w", p.Value, err)
		}
	}
	c.update(func(p *Process) {
		p.Confirmed = p.Last.Time
		if p.Value == p.Block && p.Last.Count == 1 {
			p.Confirmed = p.From
		}
	})
	return nil
}

// claimBlock claims the block that the process has drawn, or any. A process that
// registered offline may have created ids with a block that belongs to another: then
// that block becomes its adopted value, which shows as a collision, and it claims
// another one for its record.
func (c *recorder) claimBlock(ctx context.Context) error {
	if c.claimed {
		return nil
	}
	p := c.process()
	h := holding{Key: p.Block, Process: processKey(p.GPID, p.Block), Member: p.Member, Idle: p.adopted()}
	err := errTaken
	if p.Block != "" {
		err = claim(ctx, c.registry.store, h)
	}
	if errors.Is(err, errTaken) {
		h.Idle = p.Value != ""
		var block [4]byte
		block, err = claimAny(ctx, c.registry.store, c.registry.random, h, p.GPID)
		if err == nil {
			c.setBlock(block)
		}
	}
	c.claimed = err == nil
	return err
}

// setBlock gives the process a block, and a value if it has none.
func (c *recorder) setBlock(block [4]byte) {
	c.update(func(p *Process) {
		p.Block = hex.EncodeToString(block[:])
		if p.Value == "" {
			p.Value = p.Block
		}
	})
}

// errForeign means that the stored record was written by another recorder.
var errForeign = errors.New("registry: the record was written by another process")

// putRecord stores the record, also if it was deleted. It replaces only what this
// recorder has stored itself, or was opened with: the error wraps errForeign if the
// stored record is another one.
func (c *recorder) putRecord(ctx context.Context) error {
	err := c.writeRecord(ctx)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrDuplicate) {
		// Either the reply to an earlier attempt was lost, or another one wrote.
		var doc record
		if doc, err = c.readRecord(ctx); err == nil && !slices.Contains(c.tried, doc.Write) {
			err = errForeign
		}
		if err == nil {
			err = c.writeRecord(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("registry: store record of %v: %w", c.process().GPID, err)
	}
	c.registered, c.tried, c.agreed = true, nil, c.process().Last.Time
	return nil
}

// writeRecord writes the record once, in the place of c.stored.
func (c *recorder) writeRecord(ctx context.Context) error {
	doc := recordOf(c.process())
	doc.Write = randomID()
	c.tried = append(c.tried, doc.Write)
	if c.stored != nil {
		stored, err := c.registry.store.Swap(ctx, processes, c.stored, doc)
		if err == nil {
			c.stored = stored
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		c.stored = nil // it was deleted
	}
	if _, err := c.registry.store.Insert(ctx, processes, doc); err != nil {
		return err
	}
	_, err := c.readRecord(ctx)
	return err
}

// startOver makes the recorder one of a new registration, after a copy of this
// process wrote its record: the record says from then on that there are copies.
func (c *recorder) startOver(ctx context.Context) error {
	for {
		doc, err := c.readRecord(ctx)
		if err == nil && !doc.Copied.IsZero() && !c.agreed.Before(doc.Copied) {
			break // the other copy has said so
		}
		if err == nil {
			doc.Copied, doc.Write = c.agreed, randomID()
			_, err = c.registry.store.Swap(ctx, processes, c.stored, doc)
		}
		if err == nil || errors.Is(err, store.ErrNotFound) {
			break
		}
		if !errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("registry: record the copy of %v: %w", c.process().GPID, err)
		}
	}
	c.stored, c.tried, c.registered, c.claimed, c.pending = nil, nil, false, false, nil
	c.update(func(p *Process) {
		p.Member, p.Block, p.Registered, p.Last.Count = randomID(), "", monotonic(), 0
		if p.adopted() {
			p.Copied = c.agreed
		} else {
			p.Value, p.From = "", c.clock.stamp(0)
		}
	})
	return nil
}

// readRecord sets c.stored to what is stored.
func (c *recorder) readRecord(ctx context.Context) (record, error) {
	p := c.process()
	raw, err := c.registry.store.Get(ctx, processes, key(processKey(p.GPID, p.Block)))
	if err != nil {
		return record{}, err
	}
	doc, err := decode[record](raw, processes)
	if err == nil {
		c.stored = raw
	}
	return doc, err
}

// putSamples stores the pending samples, and from time to time deletes old ones.
func (c *recorder) putSamples(ctx context.Context) error {
	p := c.process()
	docs := make([]any, len(c.pending))
	for i, h := range c.pending {
		docs[i] = sampleOf(p.Block, h.Time, h.Load)
	}
	_, err := c.registry.store.InsertMany(ctx, samples, docs, nil)
	var refused *store.RefusedError
	if errors.As(err, &refused) {
		err = nil
		for _, r := range refused.Refused {
			if !errors.Is(r.Err, store.ErrDuplicate) { // stored before, only the reply was lost
				err = r.Err
			}
		}
	}
	if err != nil {
		return fmt.Errorf("registry: store samples: %w", err)
	}
	c.pending = c.pending[:0]
	if p.Last.Time.Sub(c.trimmed) < trimInterval {
		return nil
	}
	old := sampleRange(p.Block, time.Time{}, p.Last.Time.Add(-c.registry.keepSamples))
	if _, err := c.registry.store.DeleteRange(ctx, samples, old); err != nil {
		return fmt.Errorf("registry: delete old samples: %w", err)
	}
	c.trimmed = p.Last.Time
	return nil
}
