package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oidkit/oid/store"
)

// startOver makes the recorder one of a new registration, after a copy of this
// process wrote its living record. The record says from then on that there are
// copies, and the living record is written, so that the other copy finds out, too.
func (c *recorder) startOver(ctx context.Context) error {
	if err := c.noteCopy(ctx); err != nil {
		return fmt.Errorf("registry: record the copy of %v: %w", c.process().GPID, err)
	}
	c.stored, c.tried, c.registered, c.claimed, c.pending = nil, nil, false, false, nil
	c.changed, c.collision, c.unchecked = true, nil, ring
	c.update(func(p *Process) {
		p.Member, p.Block, p.Registered, p.Last.Count, p.Recent = randomID(), "", monotonic(), 0, nil
		if p.adopted() {
			p.Copied = c.agreed.Time
		} else {
			p.Value, p.From = "", wall(c.clock.now).UTC().Truncate(time.Millisecond) // the new generator follows the clock, also if it was set back
		}
	})
	return nil
}

func (c *recorder) noteCopy(ctx context.Context) error {
	p, s := c.process(), c.registry.store
	for {
		raw, err := s.Get(ctx, processes, key(processKey(p.GPID, p.Block)))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		doc, err := decode[record](raw, processes)
		if err != nil {
			return err
		}
		if !doc.Copied.IsZero() && !c.agreed.Time.Before(doc.Copied) {
			break // the other copy has said so, or this one before the store failed
		}
		doc.Copied = c.agreed.Time
		if _, err = s.Swap(ctx, processes, raw, doc); err == nil {
			break
		}
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	for {
		raw, l, err := c.registry.living(ctx, c.livingKey())
		if err == nil {
			l.write = newWrite()
			_, err = s.Swap(ctx, livingRecords, raw, l.encode(c.livingKey()))
		}
		if !errors.Is(err, store.ErrConflict) {
			if errors.Is(err, store.ErrNotFound) {
				err = nil
			}
			return err
		}
	}
}
