package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/oidkit/oid/store"
)

// register claims a block for the member and records which value it holds. It
// may be called again after an error. m.working must be held.
func (m *Member) register(ctx context.Context) error {
	if err := m.claimBlock(ctx); err != nil {
		return err
	}
	p := m.Process()
	if p.Value != p.Block {
		h := holding{Key: adoptionKey(p.Value, p.From, p.Block), Process: p.Key, Member: p.Member}
		if _, err := m.store.Insert(ctx, values, h); err != nil && !errors.Is(err, store.ErrDuplicate) {
			return fmt.Errorf("registry: adopt value %s: %w", p.Value, err)
		}
	}
	m.mu.Lock()
	m.p.Certain = m.p.Last.Time
	if p.Value == p.Block && p.Last.Count == 1 {
		m.p.Certain = p.From
	}
	p = m.p
	m.mu.Unlock()
	if err := m.put(ctx, p); err != nil {
		return err
	}
	m.registered = true
	return nil
}

// claimBlock claims the block that the member has drawn, or any. If the ids of a
// member that went on offline carry a block that turns out to be another
// member's, it holds that block as an adopted value, which shows as a collision,
// and gets another one to be recorded by.
func (m *Member) claimBlock(ctx context.Context) error {
	if m.claimed {
		return nil
	}
	p := m.Process()
	h := holding{Key: p.Block, Process: p.Key, Member: p.Member, Idle: m.adopted}
	err := errTaken
	if p.Block != "" {
		err = claim(ctx, m.store, h)
	}
	if errors.Is(err, errTaken) {
		h.Idle = p.Value != ""
		var block [4]byte
		block, err = claimAny(ctx, m.store, m.options.Random, h, p.GPID)
		if err == nil {
			m.setBlock(hex.EncodeToString(block[:]))
		}
	}
	m.claimed = err == nil
	return err
}

// flush stores the member's record and the samples that are not yet stored, and
// now and then deletes old ones. m.working must be held.
func (m *Member) flush(ctx context.Context) error {
	p := m.Process()
	if err := m.put(ctx, p); err != nil {
		return err
	}
	docs := make([]any, len(m.pending))
	for i, b := range m.pending {
		docs[i] = sampleDoc{Key: sampleKey(p.Block, b.Time), Load: b.Load}
	}
	_, err := m.store.InsertMany(ctx, samples, docs, nil)
	var refused *store.RefusedError
	if errors.As(err, &refused) {
		err = nil
		for _, r := range refused.Refused {
			if !errors.Is(r.Err, store.ErrDuplicate) { // stored before, only the answer was lost
				err = r.Err
			}
		}
	}
	if err != nil {
		return fmt.Errorf("registry: store samples: %w", err)
	}
	m.pending = m.pending[:0]
	if p.Last.Time.Sub(m.trimmed) < trimInterval {
		return nil
	}
	old := sampleRange(p.Block, time.Time{}, p.Last.Time.Add(-m.options.KeepSamples))
	if _, err := m.store.DeleteRange(ctx, samples, old); err != nil {
		return fmt.Errorf("registry: delete old samples: %w", err)
	}
	m.trimmed = p.Last.Time
	return nil
}

// put stores the member's record, also if somebody pruned it.
func (m *Member) put(ctx context.Context, p Process) error {
	err := store.ErrNotFound
	if m.registered {
		err = m.store.Replace(ctx, processes, p)
	}
	if errors.Is(err, store.ErrNotFound) {
		_, err = m.store.Insert(ctx, processes, p)
		if errors.Is(err, store.ErrDuplicate) { // the answer to the first try was lost
			err = m.store.Replace(ctx, processes, p)
		}
	}
	if err != nil {
		return fmt.Errorf("registry: store record of %v: %w", p.GPID, err)
	}
	return nil
}
