package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// register claims a block and stores which value the process has.
func (c *recorder) register(ctx context.Context) error {
	if c.registered { // before the claim shows: others may have had the block meanwhile
		c.update(func(p *Process) { p.Confirmed = p.Last.Time })
		if err := c.putRecord(ctx); err != nil {
			return err
		}
	}
	if err := c.claimBlock(ctx); err != nil {
		return err
	}
	p := c.process()
	if err := c.registry.putHost(ctx, &p); err != nil {
		return err
	}
	confirmed := maxTime(p.Last.Time, wall(c.registry.options.Now).UTC().Truncate(time.Millisecond)) // the heartbeat may be old
	adopted := slices.Clone(p.adoptions())
	for i := range adopted {
		if err := c.registry.claimValue(ctx, &p, &adopted[i], confirmed); err != nil {
			return err
		}
	}
	c.update(func(p *Process) {
		if len(p.Adopted) > 0 || p.adopted() {
			p.Adopted = adopted
		}
		p.Confirmed = confirmed
		if p.Value == p.Block && p.Last.Count == 1 {
			p.Confirmed = p.From
		}
	})
	c.claimed, c.changed = true, true
	return nil
}

// claimBlock claims the block that the process has drawn, or any. A process that
// registered offline may have created ids with a block that belongs to another: then
// that block becomes its adopted value, which shows as a collision, and it claims
// another one for its record.
func (c *recorder) claimBlock(ctx context.Context) error {
	p := c.process()
	h := holding{Key: p.Block, Process: processKey(p.GPID, p.Block), Member: p.Member, Idle: p.adopted()}
	if p.Block != "" {
		if err := insertClaim(ctx, c.registry.store, h); !errors.Is(err, errTaken) {
			return err
		}
	}
	h.Idle = p.Value != ""
	block, err := claimAny(ctx, c.registry.store, c.random, h, p.GPID)
	if err == nil && c.registered {
		c.left, c.stored = append(c.left, p.Key()), nil
	}
	if err == nil && p.Value == "" { // claimAny has looked for others that have the value
		c.unchecked = 0
	}
	if err == nil || p.Block == "" && block != "" { // the claim that failed may be stored
		c.update(func(p *Process) { p.Block, p.Value = block, cmp.Or(p.Value, block) })
	}
	return err
}

// claimValue stores that a process is recorded with an adopted value from now on.
func (r *Registry) claimValue(ctx context.Context, p *Process, a *Adopted, now time.Time) error {
	a.Confirmed = now
	h := holding{Key: adoptionKey(a.Value, a.From, p.Block), Format: format, Process: processKey(p.GPID, p.Block), Member: p.Member}
	if !a.EvidenceID.IsZero() {
		h.Adopted = a
	}
	if _, err := r.store.Insert(ctx, claimRecords, h); err != nil && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: adopt value %s: %w", a.Value, err)
	}
	return nil
}

// deleteLeft deletes what is stored of the process under blocks that it gave up.
func (c *recorder) deleteLeft(ctx context.Context) error {
	for ; len(c.left) > 0; c.left = c.left[1:] {
		k := string(c.left[0])
		err := unlessNotFound(c.registry.store.Delete(ctx, livingRecords, storeKey(k)))
		if err == nil {
			err = unlessNotFound(c.registry.store.Delete(ctx, processRecords, storeKey(processKey(c.p.GPID, k[:8]))))
		}
		if err != nil {
			return fmt.Errorf("registry: delete record of %v: %w", c.p.GPID, err)
		}
	}
	return nil
}

// errForeign means that the living record was written by another recorder.
var errForeign = errors.New("registry: the record was written by another process")

// check finds the rivals of the process, and finds out what was lost, for the next
// steps. known and doc are as in store.
func (c *recorder) check(ctx context.Context, known claimsByBlock, doc *record) (err error) {
	p := c.process()
	if known == nil {
		if known, err = c.registry.claims(ctx, p.claims()); err != nil {
			return err
		}
	}
	collision, claimed, err := c.registry.rivals(ctx, known, &p)
	if err == nil && (!claimed || p.adopted() && !known.has(&p)) {
		// The claim was deleted, with a backup that was restored or by a lost write.
		// Another process may have claimed the block since: both then have the value,
		// which is a collision.
		c.claimed, c.changed = false, true
		return nil
	}
	if err == nil && doc == nil {
		doc = new(record)
		*doc, err = getDoc[record](ctx, c.registry.store, processRecords, processKey(p.GPID, p.Block))
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

// readLiving finds out what is stored in place of what the recorder knows, and what follows
// from it:
//
//	nothing, of a remote process    another Registry may have recorded its end: errForeign
//	nothing, or an earlier state    a backup was restored, perhaps: check what else is lost
//	the write that was tried last   it is stored, also if the reply was lost
//	another one that was tried      the same, and the next write replaces it
//	any other write                 it is another recorder's: errForeign
func (c *recorder) readLiving(ctx context.Context, k string) error {
	l, err := getDoc[living](ctx, c.registry.store, livingRecords, k)
	deleted := errors.Is(err, store.ErrNotFound)
	switch {
	case deleted && c.p.Remote: // another Registry may have recorded its end
		return errForeign
	case err != nil && !deleted:
		return err
	case deleted || l.last.Count < c.agreed.Count || l.write == c.tried[0] && len(c.tried) > 1:
		c.changed, c.unchecked = true, maxRecent
	case !slices.Contains(c.tried, l.write):
		return errForeign
	}
	if c.stored = l.raw; !deleted && l.write == c.tried[len(c.tried)-1] {
		c.agree(l.raw)
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
			_, _ = c.registry.store.SwapMany(ctx, livingRecords, []store.Swap{{Old: c.stored}})
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
		_, err = amend(ctx, c.registry.store, processRecords, doc.Key, put)
	}
	for errors.Is(err, store.ErrNotFound) {
		if _, err = c.registry.store.Insert(ctx, processRecords, doc); errors.Is(err, store.ErrDuplicate) {
			_, err = amend(ctx, c.registry.store, processRecords, doc.Key, put)
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

// trim puts the samples in order when an hour of the process has ended: those of the
// hour that it had its last heartbeat in become one document, those that are a day old
// are thinned, and old ones are deleted. The newest sample may be in no document yet.
func (c *recorder) trim(ctx context.Context) error {
	p := c.process()
	r := c.registry
	ended := hourOf(p.Block, c.trimmed)
	old, thin := p.Last.Time.Add(-r.keepSamples), hourOf(p.Block, hourOf(p.Block, p.Last.Time).Add(-keepAll))
	c.update(func(p *Process) {
		for len(p.Recent) > 1 && p.Recent[0].Time.Before(old) {
			p.Recent = p.Recent[1:]
		}
	})
	_, err := r.deleteSamples(ctx, []string{p.Block}, old)
	if err == nil {
		err = r.merge(ctx, p.Block, ended, ended.Add(time.Hour), 0)
	}
	if err == nil {
		err = r.merge(ctx, p.Block, thin.Add(-time.Hour), thin, keepThinned)
	}
	if err == nil {
		c.trimmed = p.Last.Time
	}
	return err
}
