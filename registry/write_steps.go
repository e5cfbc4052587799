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

// errOverwritten means that another recorder has written the living record, or that the one
// of a remote process is missing, because another Registry may have recorded its end.
var errOverwritten = errors.New("registry: the record was written or deleted by another process")

// check looks for rivals of the process and for lost documents, which next then makes due
// again. known and doc are as in store.
func (c *recorder) check(ctx context.Context, known claimsByBlock, doc *record) (err error) {
	p := c.process()
	if known == nil {
		if known, err = c.registry.claims(ctx, p.claimedValues()); err != nil {
			return err
		}
	}
	collision, complete, err := c.registry.rivals(ctx, known, &p)
	if err == nil && (!complete || p.adopted() && !known.has(&p)) {
		// The claim was deleted, with a backup that was restored or by a lost write.
		// Another process may have claimed the block since: both then have the value,
		// which is a collision.
		c.claimed, c.recordDue = false, true
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
		c.collision, c.sinceCheck = collision, 0
	}
	return err
}

// putLiving stores the living record, even if it was deleted. It replaces only what this
// recorder has stored or was opened with; otherwise the error may wrap errOverwritten, see
// confirmLiving. Even without an error the record may have to be written again.
func (c *recorder) putLiving(ctx context.Context) (err error) {
	l := livingOf(&c.p, len(c.unstored))
	c.inFlight = append(c.inFlight, l.write)
	var stored bson.Raw
	if c.stored == nil {
		_, err = c.registry.store.Insert(ctx, livingRecords, l)
	} else {
		stored, err = c.registry.store.Swap(ctx, livingRecords, c.stored, l)
	}
	switch {
	case stored != nil:
		c.confirm(stored, l.write)
	case err == nil, errors.Is(err, store.ErrDuplicate), errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound):
		err = c.confirmLiving(ctx, l.key)
	}
	if err != nil {
		err = fmt.Errorf("registry: write the heartbeat of %v: %w", c.p.GPID, err)
	}
	return err
}

// confirmLiving reads the living record after the store has refused to replace c.stored, to
// find out which write stored what is there. The first row that applies decides:
//
//	the living record is            that means, and then
//	missing, of a remote process    another Registry may have recorded its end: errOverwritten
//	missing                         a backup was restored, perhaps: the claims are checked, and
//	                                the next write inserts the living record
//	older than c.stored, or still   a backup was restored, perhaps: the claims are checked, and
//	that of c.storedWrite           the next write replaces the living record
//	the last of c.inFlight          the heartbeat is stored, and only the answer was lost
//	an earlier one of c.inFlight    the answer was lost: the next write replaces it
//	of any other write              another recorder wrote it: errOverwritten
func (c *recorder) confirmLiving(ctx context.Context, k string) error {
	l, err := getDoc[living](ctx, c.registry.store, livingRecords, k)
	missing := errors.Is(err, store.ErrNotFound)
	switch {
	case missing && c.p.Remote:
		return errOverwritten
	case err != nil && !missing:
		return err
	case missing || l.last.Count < c.storedBeat.Count || l.write == c.storedWrite:
		c.recordDue, c.sinceCheck = true, maxRecent
	case !slices.Contains(c.inFlight, l.write):
		return errOverwritten
	}
	if c.stored = l.raw; !missing && l.write == c.inFlight[len(c.inFlight)-1] {
		c.confirm(l.raw, l.write)
	}
	return nil
}

// confirm notes that a write has stored the living record with the latest heartbeat.
func (c *recorder) confirm(stored bson.Raw, write [8]byte) {
	c.stored, c.storedWrite, c.storedBeat, c.inFlight = stored, write, c.p.Last, nil
}

// putRecord stores the record, and keeps what others have recorded about the process.
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
		if !c.described {
			stored.Name, stored.Version, stored.Labels = before.Name, before.Version, before.Labels // others may have a newer description
		}
		return nil
	}
	err := store.ErrNotFound
	if c.recordStored {
		_, err = amend(ctx, c.registry.store, processRecords, doc.Key, put)
	}
	for errors.Is(err, store.ErrNotFound) {
		if _, err = c.registry.store.Insert(ctx, processRecords, doc); errors.Is(err, store.ErrDuplicate) {
			_, err = amend(ctx, c.registry.store, processRecords, doc.Key, put)
		}
	}
	if err == nil && before.Final {
		err = c.registry.deleteEnded(ctx, &before)
	}
	if err != nil {
		return fmt.Errorf("registry: write the record of %v: %w", doc.GPID, err)
	}
	c.recordDue, c.recordStored = false, true
	return nil
}

// trim tidies the samples of the process when one of its hours has ended. It joins the
// documents of the hour of its last heartbeat, thins samples that are a day old, and
// deletes those older than keepSamples. The newest sample may not be in a document yet.
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
