package registry

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Heartbeats records heartbeats of many remote processes with few calls of the store. The
// result has one element for each heartbeat: nil, or the error that [Registry.Heartbeat]
// would return. Heartbeats of the same process must be in order of time. Heartbeats is fastest
// if one Registry always gets the heartbeats of the same processes, because the Registry
// remembers what it has stored for them. Heartbeats looks for collisions less often than
// [Registry.Heartbeat] does.
func (r *Registry) Heartbeats(ctx context.Context, beats []RemoteHeartbeat) []error {
	errs := make([]error, len(beats))
	order := make([]int, len(beats)) // of keys, in which a store is the fastest
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(beats[a].Member, beats[b].Member) })
	var rounds [][]int // the first has the first heartbeat of each process, and so on
	earlier := map[MemberKey]int{}
	for _, i := range order {
		n := earlier[beats[i].Member]
		if earlier[beats[i].Member]++; n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], i)
	}
	for _, round := range rounds {
		for some := range slices.Chunk(round, maxBatch) {
			r.writeHeartbeats(ctx, beats, some, errs)
		}
	}
	return errs
}

// remoteBeat is a heartbeat on its way to the store.
type remoteBeat struct {
	index    int // in the caller's list
	gpid     gpid.GPID
	samples  newSamples // to be stored before it, if there are any
	swap     store.Swap // of the living record
	recorder *recorder  // does what is due afterwards, or nil if nothing is
	record   *record    // of the process; nil without a recorder
}

// writeHeartbeats records the heartbeats with the given indexes, one of each process. Most
// of them change only the living record, which this Registry remembers. For the others it
// reads what is stored. If another writer interferes, a heartbeat is recorded again, alone.
func (r *Registry) writeHeartbeats(ctx context.Context, beats []RemoteHeartbeat, indexes []int, errs []error) {
	batch := make([]remoteBeat, 0, len(indexes))
	var others, alone []int
	c := r.newRecorder(Process{}) // of one process after the other
	for _, i := range indexes {
		if k := beats[i].Member; beats[i].Description == nil && c.openLiving(k, r.memory.living(k)) == nil {
			if b := c.prepare(i, &beats[i]); c.next(&c.p) == nothing {
				batch = append(batch, b)
				continue
			}
		}
		others = append(others, i)
	}
	for n, m := range r.members(ctx, each.Of(others, func(i int) MemberKey { return beats[i].Member })) {
		i := others[n]
		if errs[i] = m.checkRemote(beats[i].Description); errs[i] != nil {
			r.memory.remember(beats[i].Member, nil)
		} else if m.living == nil {
			alone = append(alone, i)
		} else {
			c := r.openRecorder(&m)
			c.describe(beats[i].Description)
			b := c.prepare(i, &beats[i])
			b.recorder, b.record = c, m.record
			batch = append(batch, b)
		}
	}
	var samples []newSamples
	swaps := make([]store.Swap, len(batch))
	for n := range batch {
		if swaps[n] = batch[n].swap; batch[n].samples.samples != nil {
			samples = append(samples, batch[n].samples)
		}
	}
	err := r.putSamples(ctx, samples)
	var stored []bson.Raw
	sampled := err == nil
	if sampled {
		stored, err = r.store.SwapMany(ctx, livingRecords, swaps)
	}
	var due []remoteBeat
	for n, err := range errorsOf(len(batch), err) {
		b := &batch[n]
		var remembered bson.Raw
		switch {
		case err == nil:
			if remembered = stored[n]; b.recorder != nil {
				b.recorder.stored = stored[n]
				due = append(due, *b)
			}
		case errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound):
			alone = append(alone, b.index)
		case !sampled:
			errs[b.index] = err
		default:
			errs[b.index] = fmt.Errorf("registry: write the heartbeat of %v: %w", b.gpid, err)
		}
		r.memory.remember(beats[b.index].Member, remembered)
	}
	r.storeDue(ctx, due, errs)
	_ = inParallel(len(alone), func(n int) error {
		_, errs[alone[n]] = r.writeRemote(ctx, &beats[alone[n]], nil)
		return nil
	})
}

// checkEvery is how many documents of samples a process that owns its block stores between
// two checks of its claim.
const checkEvery = 10

// prepare adds a heartbeat and returns the writes that store it. It leaves the recorder in
// the state that follows these writes.
func (c *recorder) prepare(index int, beat *RemoteHeartbeat) remoteBeat {
	c.sentAgo(beat)
	c.measure(&beat.Load, 0, nil)
	c.sinceCheck = 0
	if c.p.due(maxRecent*checkEvery) || c.p.adopted() && c.p.due(maxRecent) {
		c.sinceCheck = maxRecent
	}
	b := remoteBeat{index: index, gpid: c.p.GPID}
	if c.next(&c.p) == writeSamples {
		n := len(c.unstored) - 1
		b.samples, c.unstored = newSamples{c.p.Block, c.unstored[:n]}, c.unstored[n:]
	}
	l := livingOf(&c.p, len(c.unstored))
	b.swap = store.Swap{Old: c.stored, New: dataDoc(l.key, l.appendTo(nil))}
	c.confirm(c.stored, l.write)
	return b
}

// openLiving makes c the recorder of a remote process from its living record alone.
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

// storeDue does the tasks of processes that are due after their heartbeats were stored.
func (r *Registry) storeDue(ctx context.Context, due []remoteBeat, errs []error) {
	var values []string
	for _, b := range due {
		if b.recorder.sinceCheck >= maxRecent {
			values = append(values, b.record.claimedValues()...)
		}
	}
	known, _ := r.claims(ctx, values) // nil if it fails: one of them may be to blame
	_ = inParallel(len(due), func(n int) error {
		b := &due[n]
		if errs[b.index] = b.recorder.store(ctx, known, b.record); errs[b.index] == nil && b.recorder.collision != nil {
			errs[b.index] = b.recorder.collision
		}
		return nil
	})
}
