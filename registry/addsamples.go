package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
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

// AddSamples records further process values of a recorded process that has not
// ended, for its latest registration, like [Member.AddSamples]. It sends no
// heartbeat: the process may be one that another program has adopted. The error
// wraps [store.ErrNotFound] if the process is not recorded, and [ErrEnded] if it has
// ended.
func (r *Registry) AddSamples(ctx context.Context, g gpid.GPID, samples []objectid.ID, layout objectid.Layout) (Process, error) {
	doc, err := r.latest(ctx, g)
	if err != nil {
		return Process{}, err
	}
	p, err := r.current(ctx, doc)
	if err != nil {
		return Process{}, err
	}
	s, err := r.status(ctx, p)
	if err != nil {
		return Process{}, err
	}
	if !s.State.mayLive() && !s.Presumed {
		return Process{}, fmt.Errorf("%w: %v", ErrEnded, g)
	}
	c := r.openRecorder(*p, nil, nil)
	if err := c.addSamples(ctx, samples, layout); err != nil {
		return Process{}, err
	}
	added := c.process()
	if err := r.recordAdopted(ctx, &added); err != nil {
		return Process{}, fmt.Errorf("registry: store record of %v: %w", g, err)
	}
	collision, _, err := r.rivals(ctx, &added)
	if err == nil && collision != nil {
		err = collision
	}
	return added, err
}

// recordAdopted adds the adopted values of p to its record, which another recorder
// may write meanwhile. That one keeps them.
func (r *Registry) recordAdopted(ctx context.Context, p *Process) error {
	k := key(processKey(p.GPID, p.Block))
	for {
		raw, err := r.store.Get(ctx, processes, k)
		if err != nil {
			return err
		}
		doc, err := decode[record](raw, processes)
		if err != nil {
			return err
		}
		doc.addAdopted(p.Adopted)
		if _, err = r.store.Swap(ctx, processes, raw, doc); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// latest returns the record of the latest registration of a process, without what its
// living record says.
func (r *Registry) latest(ctx context.Context, g gpid.GPID) (*record, error) {
	runs, err := findMany(ctx, r.store, processes, []store.Range{runRange(g)}, fewRuns)
	if err != nil {
		return nil, err
	}
	return latestOf(g, runs[0])
}

// latestOf returns the latest one of the records of a process.
func latestOf(g gpid.GPID, runs []bson.Raw) (last *record, err error) {
	for _, raw := range runs {
		doc, err := decode[record](raw, processes)
		if err != nil {
			return nil, err
		}
		if last == nil || doc.Confirmed.After(last.Confirmed) {
			last = &doc
		}
	}
	if last == nil {
		return nil, fmt.Errorf("registry: process %v: %w", g, store.ErrNotFound)
	}
	return last, nil
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
	c.changed, c.unchecked = true, ring
	return nil
}
