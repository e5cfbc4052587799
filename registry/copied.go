package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/oidkit/oid/store"
)

// startOver makes the recorder one of a new registration, after a copy of this
// process wrote its living record. The record says from then on that there are
// copies, and the living record is written, so that the other copy finds out, too.
func (c *recorder) startOver(ctx context.Context) error {
	if err := c.noteCopy(ctx); err != nil {
		return fmt.Errorf("registry: record the copy of %v: %w", c.process().GPID, err)
	}
	agreed := c.agreed.Time
	c.enrolment = enrolment{changed: true, unchecked: maxRecent, trimmed: c.trimmed, left: c.left}
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
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return err
}
