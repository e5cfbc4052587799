package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/oidkit/oid/objectid"
)

// AddSamples records further process values of the process: those of samples that it
// has created, such as the ids of another client or of a driver beside the member's
// generator. It sends a heartbeat. The errors are those of [Registry.Adopt]; with a
// [*CollisionError] the values are recorded, too. After the end it returns
// [ErrEnded].
func (m *Member) AddSamples(ctx context.Context, samples []objectid.ID, layout objectid.Layout) error {
	m.working.Lock()
	defer m.working.Unlock()
	if m.ended {
		return ErrEnded
	}
	if err := m.recorder.addSamples(ctx, samples, layout); err != nil {
		return err
	}
	_, err := m.heartbeat(ctx, nil)
	return err
}

// AddSamples records further process values of a member that has not ended, like
// [Member.AddSamples]. It sends no heartbeat: the process may be one that another
// program has adopted. The error wraps [store.ErrNotFound] if the member is not
// recorded, and [ErrEnded] if it has ended.
func (r *Registry) AddSamples(ctx context.Context, k MemberKey, samples []objectid.ID, layout objectid.Layout) (Process, error) {
	m := r.member(ctx, k)
	if m.err != nil {
		return Process{}, m.err
	}
	s, err := r.status(ctx, m.process)
	if err != nil {
		return Process{}, err
	}
	if !s.State.mayLive() && !s.Presumed {
		return Process{}, fmt.Errorf("%w: %v", ErrEnded, s.GPID)
	}
	c := r.openRecorder(&storedMember{process: &s.Process})
	if err := c.addSamples(ctx, samples, layout); err != nil {
		return Process{}, err
	}
	added := c.process()
	if _, err := amend(ctx, r.store, processRecords, processKey(added.GPID, added.Block), func(doc *record) error {
		doc.addAdopted(added.Adopted) // the process may write its record meanwhile; it keeps them
		return nil
	}); err != nil {
		return Process{}, fmt.Errorf("registry: store record of %v: %w", s.GPID, err)
	}
	return added, r.collision(ctx, &added)
}

// addSamples claims the values of samples. The record is still to be written.
func (c *recorder) addSamples(ctx context.Context, samples []objectid.ID, layout objectid.Layout) error {
	p, now := c.process(), wall(c.registry.options.Now)
	p.addAdopted(nil)
	known := len(p.Adopted)
	started := p.started()
	if p.adopted() {
		started = earliest(started, p.From)
	}
	if err := p.adopt(samples, layout, started, now); err != nil {
		return err
	}
	if c.claimed {
		for i := range p.Adopted[known:] {
			if err := c.claimValue(ctx, &p.Adopted[known+i], now.UTC().Truncate(time.Millisecond)); err != nil {
				return err
			}
		}
	}
	c.update(func(q *Process) { q.Adopted = p.Adopted })
	c.changed, c.unchecked = true, maxRecent
	return nil
}
