package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

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
