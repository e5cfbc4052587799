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

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

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
	for len(order) > 0 {
		var round, later []int // one heartbeat of each process, and the others
		for i, place := range order {
			if len(round) == maxBatch || i > 0 && beats[order[i-1]].Member == beats[place].Member {
				later = append(later, place)
			} else {
				round = append(round, place)
			}
		}
		batch, held, alone := r.openBatch(ctx, beats, round, errs)
		again, due := r.putBatch(ctx, beats, batch, held, errs)
		r.tend(ctx, beats, due, errs)
		alone = append(alone, again...)
		_ = inParallel(len(alone), func(i int) error {
			_, errs[alone[i]] = r.writeRemote(ctx, &beats[alone[i]], nil)
			return nil
		})
		order = later
	}
	return errs
}

// remoteBeat is a heartbeat on its way to the store.
type remoteBeat struct {
	place      int // in the caller's list
	gpid       gpid.GPID
	swap       store.Swap // of the living record
	due        bool       // something is to be done when that is stored
	trimmed    time.Time  // see registration
	sinceCheck int        // likewise
}

// openBatch measures the heartbeats at the places. It returns them with the samples that
// are to be stored before them, and the places of those that are sent alone: of processes
// without a living record, and with one that cannot be read.
func (r *Registry) openBatch(ctx context.Context, beats []RemoteHeartbeat, places []int, errs []error) (batch []remoteBeat, held []newSamples, alone []int) {
	stored := make([]bson.Raw, len(places)) // their living records
	var unread []int
	var keys []MemberKey
	for i, place := range places {
		k := beats[place].Member
		if stored[i] = r.memory.living(k); stored[i] == nil {
			unread, keys = append(unread, i), append(keys, k)
		}
	}
	for i, m := range r.members(ctx, keys) {
		if errs[places[unread[i]]] = m.checkRemote(); m.living != nil {
			stored[unread[i]] = m.living.raw
		}
	}
	batch = make([]remoteBeat, 0, len(places))
	c := r.newRecorder(Process{}) // of one process after the other
	for i, place := range places {
		k := beats[place].Member
		switch err := c.openLiving(k, stored[i]); {
		case errs[place] != nil:
		case err != nil:
			alone = append(alone, place)
		default:
			c.sentAgo(&beats[place])
			c.measure(&beats[place].Load, 0, nil)
			c.sinceCheck = 0
			if every := int64(maxRecent * checkEvery); c.p.due(every) || c.p.adopted() && c.p.due(maxRecent) {
				c.sinceCheck = maxRecent
			}
			if c.next(&c.p) == writeSamples {
				n := len(c.unstored) - 1
				held = append(held, newSamples{c.p.Block, c.unstored[:n]})
				c.unstored = c.unstored[n:]
			}
			l := livingOf(&c.p, len(c.unstored))
			swap := store.Swap{Old: c.stored, New: dataDoc(string(k), l.appendTo(nil))}
			c.confirm(c.stored, l.write)
			batch = append(batch, remoteBeat{place, c.p.GPID, swap, c.next(&c.p) != nothing, c.trimmed, c.sinceCheck})
		}
	}
	return batch, held, alone
}

// checkEvery is how many documents of samples a process that owns its block stores
// until its claim is looked at.
const checkEvery = 10

// openLiving makes c the recorder of a remote process with a living record, of which
// nothing else is read.
func (c *recorder) openLiving(k MemberKey, raw bson.Raw) error {
	if raw == nil {
		return store.ErrNotFound
	}
	l, err := decode[living](raw, livingRecords)
	if err != nil {
		return err
	}
	c.p = Process{GPID: l.gpid, Block: string(k[:8]), Interval: l.interval, Remote: true}
	if _, err := hex.Decode(c.p.Member[8:], []byte(k[8:])); err != nil {
		return err
	}
	if l.adopted {
		c.p.EvidenceID = objectid.ID(c.p.Member) // any but zero
	}
	l.applyTo(&c.p)
	c.open(&l)
	return nil
}

// putBatch stores the heartbeats. It returns the places of those whose living record
// others have written, and those after which something is due.
func (r *Registry) putBatch(ctx context.Context, beats []RemoteHeartbeat, batch []remoteBeat, held []newSamples, errs []error) (again []int, due []remoteBeat) {
	err := r.putSamples(ctx, held)
	var stored []bson.Raw
	if err == nil {
		swaps := each.Of(batch, func(b remoteBeat) store.Swap { return b.swap })
		stored, err = r.store.SwapMany(ctx, livingRecords, swaps)
	}
	failed := errorsOf(len(batch), err)
	for i, b := range batch {
		k := beats[b.place].Member
		r.memory.remember(k, nil)
		switch {
		case failed[i] == nil:
			r.memory.remember(k, stored[i])
			if b.due {
				due = append(due, b)
			}
		case errors.Is(failed[i], store.ErrConflict) || errors.Is(failed[i], store.ErrNotFound):
			again = append(again, b.place)
		default:
			errs[b.place] = fmt.Errorf("registry: store heartbeat of %v: %w", b.gpid, failed[i])
		}
	}
	return again, due
}

// tend does what processes need from time to time after a heartbeat was stored.
func (r *Registry) tend(ctx context.Context, beats []RemoteHeartbeat, due []remoteBeat, errs []error) {
	if len(due) == 0 {
		return
	}
	keys := each.Of(due, func(b remoteBeat) MemberKey { return beats[b.place].Member })
	found := r.members(ctx, keys)
	var claimed []string
	for i, b := range due {
		if m := &found[i]; m.err != nil {
			r.memory.remember(keys[i], nil) // if it was pruned while it was silent, the next heartbeat stores it again
			errs[b.place] = m.err
		} else if b.sinceCheck >= maxRecent {
			claimed = append(claimed, m.record.claimedValues()...)
		}
	}
	known, _ := r.claims(ctx, claimed) // nil if it fails: one of them may be to blame
	_ = inParallel(len(due), func(i int) error {
		b, m := &due[i], &found[i]
		if m.err != nil || m.record.End != nil { // recorded by another Registry after this heartbeat
			return nil
		}
		c := r.openRecorder(m)
		c.trimmed, c.sinceCheck = b.trimmed, b.sinceCheck
		if errs[b.place] = c.store(ctx, known, m.record); errs[b.place] == nil && c.collision != nil {
			errs[b.place] = c.collision
		}
		return nil
	})
}
