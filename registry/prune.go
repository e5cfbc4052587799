package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oidkit/oid/store"
)

// PruneOptions configure [Registry.Prune]. The zero value, like a nil pointer, is
// ready to use.
type PruneOptions struct {
	// Samples is for how long samples are kept. Default: 7 days.
	Samples time.Duration
	// Records is for how long the record of a process is kept after its last
	// heartbeat. Default: 365 days.
	Records time.Duration
}

// Pruned counts the deleted documents.
type Pruned struct {
	Samples int64 `json:"samples"`
	Records int64 `json:"records"`
}

// Prune deletes old samples, and the records of processes that ended long ago.
// Blocks stay claimed for ever; claims and adopted values keep the essence of the
// record, so that ids are still traced. Ages are by the wall clock of this host. On
// an error a part may have been deleted.
func (r *Registry) Prune(ctx context.Context, o *PruneOptions) (Pruned, error) {
	keep := PruneOptions{Samples: 7 * 24 * time.Hour, Records: 365 * 24 * time.Hour}
	if o != nil && o.Samples != 0 {
		keep.Samples = o.Samples
	}
	if o != nil && o.Records != 0 {
		keep.Records = o.Records
	}
	var done Pruned
	if keep.Samples < 0 || keep.Records < 0 {
		return done, fmt.Errorf("registry: prune: keep samples for %v and records for %v, want no negative duration", keep.Samples, keep.Records)
	}
	now := wall(r.options.Now)
	for s, err := range r.List(ctx) {
		if err != nil {
			return done, err
		}
		old := now.Add(-keep.Samples)
		gone := s.State != Alive && s.Last.Time.Before(now.Add(-keep.Records))
		if gone {
			old = now.AddDate(100, 0, 0) // all of them
		}
		if gone || s.From.Before(old) {
			n, err := r.deleteSamples(ctx, s.Block, old)
			done.Samples += n
			if err != nil {
				return done, fmt.Errorf("registry: prune samples of %v: %w", s.GPID, err)
			}
		}
		if gone {
			if err := r.pruneRecord(ctx, &s.Process); err != nil {
				return done, fmt.Errorf("registry: prune record of %v: %w", s.GPID, err)
			}
			done.Records++
		}
	}
	return done, nil
}

// pruneRecord deletes the record of p. Its essence is stored first: if another
// process had the same value, forgetting p would make that one look like the only
// candidate.
func (r *Registry) pruneRecord(ctx context.Context, p *Process) error {
	held := p.Block
	if p.Value != p.Block {
		held = adoptionKey(p.Value, p.From, p.Block)
	}
	h, err := get[holding](ctx, r.store, values, held)
	if err == nil {
		essence := *p
		essence.Labels, essence.Executable = nil, ""
		h.Pruned, h.Format = &essence, format
		err = r.store.Replace(ctx, values, h)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) { // the claim was deleted
		return err
	}
	if raw, _, err := r.living(ctx, livingKey(p.Block, p.Member)); err == nil {
		if err := r.store.DeleteIf(ctx, livingRecords, raw); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return r.store.Delete(ctx, processes, key(processKey(p.GPID, p.Block)))
}
