package registry

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// RemoteHeartbeat is a heartbeat for [Registry.Heartbeats].
type RemoteHeartbeat struct {
	Member MemberKey
	Load   Load
	// Clock is the time by the clock of the process when it sent the heartbeat, or
	// the zero time.
	Clock time.Time
	// Age is how long ago it sent the heartbeat: that of one that was kept while the
	// store was away. Those of a process come in their order.
	Age time.Duration
}

// Heartbeats records the heartbeats of many remote processes with few calls of the
// store. It returns for each nil, or the error that [Registry.Heartbeat] would
// return. It is the fastest if it always gets the heartbeats of the same processes:
// then it need not read their living records first. A rival of a process that owns
// its block, which only a lost claim can bring about, is noticed late.
func (r *Registry) Heartbeats(ctx context.Context, beats []RemoteHeartbeat) []error {
	errs := make([]error, len(beats))
	order := make([]int, len(beats)) // of keys, in which a store is the fastest
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(beats[a].Member, beats[b].Member) })
	for places := range slices.Chunk(order, maxBatch) {
		batch, alone := r.openBatch(ctx, beats, places, errs)
		alone = append(alone, r.putBatch(ctx, batch, errs)...)
		r.tend(ctx, batch, errs)
		members := byMember(beats, alone)
		_ = each(len(members), func(i int) error {
			for _, place := range members[i] {
				_, errs[place] = r.writeRemote(ctx, &beats[place], nil)
			}
			return nil
		})
	}
	return errs
}

// byMember returns the places by member, those of each in their order.
func byMember(beats []RemoteHeartbeat, places []int) (members [][]int) {
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(cmp.Compare(beats[a].Member, beats[b].Member), cmp.Compare(a, b)) })
	for i, place := range places {
		if i == 0 || beats[place].Member != beats[places[i-1]].Member {
			members = append(members, nil)
		}
		members[len(members)-1] = append(members[len(members)-1], place)
	}
	return members
}

// remembered is the living record of a remote process as it was stored at a time.
type remembered struct {
	living bson.Raw
	at     time.Time
}

// remember keeps the living record of a process that will send heartbeats, or with nil
// forgets it.
func (r *Registry) remember(k MemberKey, living bson.Raw) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.remotes[k] = (remembered{living, time.Now()}); living == nil {
		delete(r.remotes, k)
	}
}

// remoteBeat is a heartbeat on its way to the store. Its recorder knows of the process
// only what the living record says, until tend reads the record.
type remoteBeat struct {
	*recorder
	place int // in the caller's list
	key   MemberKey
}

// openBatch returns recorders that have measured the heartbeats at the places, and the
// places of those that are sent alone: of processes without a living record, with one
// that cannot be read, and with more than one heartbeat.
func (r *Registry) openBatch(ctx context.Context, beats []RemoteHeartbeat, places []int, errs []error) (batch []*remoteBeat, alone []int) {
	found := make([]storedMember, len(places))
	var unknown []int // of found
	var keys []MemberKey
	r.mu.Lock()
	for i, place := range places {
		k := beats[place].Member
		if found[i].stored = r.remotes[k].living; found[i].stored == nil {
			unknown, keys = append(unknown, i), append(keys, k)
		}
	}
	r.mu.Unlock()
	for i, m := range r.members(ctx, keys) {
		errs[places[unknown[i]]] = m.remote()
		found[unknown[i]] = m
	}
	for i, place := range places {
		k := beats[place].Member
		switch c, err := r.openLiving(k, found[i].stored); {
		case errs[place] != nil:
		case err != nil || i > 0 && beats[places[i-1]].Member == k:
			alone = append(alone, place)
		default:
			c.sentAgo(&beats[place])
			c.measure(&beats[place].Load, 0, nil)
			c.unchecked = 0
			if every := int64(ring * checkEvery); c.p.turn(every) || c.p.adopted() && c.p.turn(ring) {
				c.unchecked = ring
			}
			batch = append(batch, &remoteBeat{c, place, k})
		}
	}
	return batch, alone
}

// checkEvery is how many documents of samples a process that owns its block stores
// until its claim is looked at.
const checkEvery = 10

// openLiving returns the recorder of a remote process with a living record, of which
// nothing else is read.
func (r *Registry) openLiving(k MemberKey, raw bson.Raw) (*recorder, error) {
	if raw == nil {
		return nil, store.ErrNotFound
	}
	l, err := decodeLiving(raw)
	if err != nil {
		return nil, err
	}
	p := Process{GPID: l.gpid, Block: string(k[:8]), Interval: l.interval, Remote: true}
	if _, err := hex.Decode(p.Member[8:], []byte(k[8:])); err != nil {
		return nil, err
	}
	if l.adopted {
		p.Sample = objectid.ID(p.Member) // any but zero
	}
	l.over(&p)
	return r.openRecorder(p, raw, l), nil
}

// putBatch stores what each of the recorders has to write up to its living record. It
// returns the places of those whose living record others have written.
func (r *Registry) putBatch(ctx context.Context, batch []*remoteBeat, errs []error) (again []int) {
	var held []newSamples
	for _, b := range batch {
		if b.next(&b.p) == writeSamples {
			n := len(b.pending) - 1
			held = append(held, newSamples{b.p.Block, b.pending[:n]})
			b.pending = b.pending[n:]
		}
	}
	err := r.putSamples(ctx, held)
	var stored []bson.Raw
	if err == nil {
		swaps := make([]store.Swap, len(batch))
		for i, b := range batch {
			doc := b.livingDoc()
			swaps[i] = store.Swap{Old: b.stored, New: dataDoc(doc.Key, doc.Data)}
		}
		stored, err = r.store.SwapMany(ctx, livingRecords, swaps)
	}
	failed := parts(len(batch), err)
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, b := range batch {
		delete(r.remotes, b.key)
		switch {
		case failed[i] == nil:
			b.agree(stored[i])
			r.remotes[b.key] = remembered{stored[i], now}
		case errors.Is(failed[i], store.ErrConflict) || errors.Is(failed[i], store.ErrNotFound):
			again = append(again, b.place)
		default:
			errs[b.place] = fmt.Errorf("registry: store heartbeat of %v: %w", b.p.GPID, failed[i])
		}
	}
	return again
}

// tend does what processes need from time to time after a heartbeat was stored.
func (r *Registry) tend(ctx context.Context, batch []*remoteBeat, errs []error) {
	var due []*remoteBeat
	var keys []string
	for _, b := range batch {
		if s := b.next(&b.p); s == trimSamples || s == checkClaims {
			due, keys = append(due, b), append(keys, processKey(b.p.GPID, b.p.Block))
		}
	}
	if len(due) == 0 {
		return
	}
	raws, err := getRaw(ctx, r.store, processes, keys)
	docs := make([]*record, len(due))
	var claimed []string
	for i, b := range due {
		if errs[b.place] = err; err == nil {
			docs[i], errs[b.place] = b.describe(raws[i])
		}
		if docs[i] != nil && b.unchecked >= ring {
			claimed = append(claimed, b.p.claims()...)
		}
	}
	known, _ := r.claims(ctx, claimed) // nil if it fails: one of them may be to blame
	_ = each(len(due), func(i int) error {
		b := due[i]
		if docs[i] == nil || errs[b.place] != nil {
			return nil
		}
		if errs[b.place] = b.recorder.store(ctx, known, docs[i]); errs[b.place] == nil && b.collision != nil {
			errs[b.place] = b.collision
		}
		return nil
	})
}

// describe adds to the recorder what the record raw says, or nil raw if there is none.
func (b *remoteBeat) describe(raw bson.Raw) (*record, error) {
	if raw == nil { // pruned while it was silent: the next heartbeat stores it again
		b.registry.remember(b.key, nil)
		return nil, fmt.Errorf("registry: record of %v: %w", b.p.GPID, store.ErrNotFound)
	}
	doc, err := decode[record](raw, processes)
	if err != nil || doc.End != nil { // recorded by another Registry after this heartbeat
		return nil, err
	}
	beat := b.p
	b.p = doc.Process
	b.p.Last, b.p.Recent, b.p.Clock = beat.Last, beat.Recent, beat.Clock
	return &doc, nil
}
