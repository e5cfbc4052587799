package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

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
	all := make([]remoteBeat, 0, len(beats))
	var unknown []int
	r.mu.Lock()
	for i, b := range beats {
		if m, ok := r.remotes[b.Member]; ok {
			all = append(all, remoteBeat{place: i, raw: m.living})
		} else {
			unknown = append(unknown, i)
		}
	}
	r.mu.Unlock()
	for some := range slices.Chunk(unknown, maxBatch) {
		keys := make([]MemberKey, len(some))
		for i, place := range some {
			keys[i] = beats[place].Member
		}
		for i, m := range r.members(ctx, keys) {
			if errs[some[i]] = m.remote(); errs[some[i]] == nil {
				all = append(all, remoteBeat{place: some[i], raw: m.stored})
			}
		}
	}
	for i := range all {
		b := &all[i]
		if b.raw != nil {
			b.prepare(&beats[b.place], wall(r.options.Now).Add(-beats[b.place].Age))
		}
	}
	slices.SortFunc(all, func(a, b remoteBeat) int { return cmp.Compare(a.doc.Key, b.doc.Key) })
	seen := make(map[MemberKey]bool, len(all))
	for len(all) > 0 {
		n := min(len(all), maxBatch)
		batch := make([]*remoteBeat, 0, n)
		for i := range all[:n] {
			b := &all[i]
			if k := beats[b.place].Member; b.raw == nil || b.err != nil || seen[k] {
				_, errs[b.place] = r.writeRemote(ctx, &beats[b.place], nil)
			} else {
				seen[k] = true
				batch = append(batch, b)
			}
		}
		r.putBatch(ctx, beats, batch, errs)
		all = all[n:]
	}
	return errs
}

// remembered is the living record of a remote process as it was stored at a time.
type remembered struct {
	living bson.Raw
	at     time.Time
}

// remember keeps the living record of a process that will send heartbeats.
func (r *Registry) remember(k MemberKey, living bson.Raw) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remotes[k] = remembered{living, time.Now()}
}

// remoteBeat is a heartbeat on its way to the store.
type remoteBeat struct {
	place int      // in the caller's list
	raw   bson.Raw // the living record as it is stored, or nil
	err   error    // it cannot be read
	l     *living
	doc   livingDoc
	full  []Sample // which become a document of samples
	trims bool
}

// prepare adds the heartbeat to the living record.
func (b *remoteBeat) prepare(beat *RemoteHeartbeat, now time.Time) {
	if b.doc, b.err = decode[livingDoc](b.raw, livingRecords); b.err != nil {
		return
	}
	if b.l, b.err = b.doc.decode(); b.err != nil {
		return
	}
	l := b.l
	at := clock{now: func() time.Time { return now }, last: l.last.Time}
	stamp := at.stamp(0)
	// Those of processes that started together are not stored in one round.
	if due := (l.last.Count+int64(b.doc.Key[6]))%ring == 0; l.unstored == ring || due && l.unstored > 0 {
		b.full, l.unstored = l.recent[len(l.recent)-l.unstored:], 0
	}
	b.trims = hour(b.doc.block(), stamp).After(l.last.Time)
	l.write, l.clock = newWrite(), l.clock.with(beat.Clock, now)
	l.last = Heartbeat{Count: l.last.Count + 1, Time: stamp, Monotonic: l.last.Monotonic, Load: beat.Load}
	l.recent = append(l.recent[:len(l.recent):len(l.recent)], Sample{stamp, beat.Load})
	l.recent = l.recent[max(0, len(l.recent)-ring):]
	l.unstored++
	b.doc = l.encode(b.doc.Key)
}

// checkEvery is how many documents of samples a process that owns its block stores
// until its claim is looked at.
const checkEvery = 10

// putBatch stores heartbeats, whose processes differ.
func (r *Registry) putBatch(ctx context.Context, beats []RemoteHeartbeat, batch []*remoteBeat, errs []error) {
	full := make([]newSamples, len(batch)) // for which living records have no more room
	for i, b := range batch {
		full[i] = newSamples{b.doc.block(), b.full}
	}
	if err := r.putSamples(ctx, full); err != nil {
		for _, b := range batch {
			errs[b.place] = err
		}
		return
	}
	swaps := make([]store.Swap, len(batch))
	for i, b := range batch {
		swaps[i] = store.Swap{Old: b.raw, New: dataDoc(b.doc.Key, b.doc.Data)}
	}
	stored, err := r.store.SwapMany(ctx, livingRecords, swaps)
	if refused, ok := errors.AsType[*store.RefusedError](err); ok {
		err = nil
		for _, refusal := range refused.Refused {
			batch[refusal.Index].err = refusal.Err
		}
	}
	now := time.Now()
	r.mu.Lock()
	for i, b := range batch {
		k := MemberKey(b.doc.Key)
		if i < len(stored) && stored[i] != nil {
			r.remotes[k] = remembered{stored[i], now}
		} else {
			delete(r.remotes, k)
		}
	}
	r.mu.Unlock()
	var again []int // the places of those that others write, too
	var due []*remoteBeat
	for i, b := range batch {
		switch done := i < len(stored) && stored[i] != nil; {
		case !done && b.err == nil:
			errs[b.place] = fmt.Errorf("registry: store heartbeat of %v: %w", b.l.gpid, err)
		case errors.Is(b.err, store.ErrConflict) || errors.Is(b.err, store.ErrNotFound):
			again = append(again, b.place)
		case !done:
			errs[b.place] = b.err
		case b.trims || b.checks():
			b.raw = stored[i]
			due = append(due, b)
		}
	}
	_ = each(len(again), func(i int) error {
		beat := &beats[again[i]]
		_, errs[again[i]] = r.writeRemote(ctx, beat, nil)
		return nil
	})
	if len(due) > 0 {
		r.tend(ctx, due, errs)
	}
}

// checks reports whether the claim of the process is to be looked at.
func (b *remoteBeat) checks() bool {
	return b.full != nil && (b.l.adopted || (b.l.last.Count/ring+int64(b.doc.Key[7]))%checkEvery == 0)
}

// tend does what processes need from time to time after a heartbeat was stored.
func (r *Registry) tend(ctx context.Context, all []*remoteBeat, errs []error) {
	keys := make([]string, len(all))
	for i, b := range all {
		keys[i] = processKey(b.l.gpid, b.doc.block())
	}
	raws, err := getRaw(ctx, r.store, processes, keys)
	docs := make([]*record, len(all))
	var claimed []string
	for i, b := range all {
		if err == nil {
			docs[i], errs[b.place] = r.recordOf(b, raws[i])
		} else {
			errs[b.place] = err
		}
		if errs[b.place] == nil && b.checks() {
			claimed = append(claimed, docs[i].claims()...)
		}
	}
	claims, err := r.claims(ctx, claimed)
	_ = each(len(all), func(i int) error {
		b := all[i]
		if errs[b.place] != nil {
			return nil
		}
		c := r.openRecorder(docs[i].Process, b.raw, b.l)
		if b.trims {
			c.trimmed = time.Time{}
			errs[b.place] = c.trim(ctx)
		}
		if errs[b.place] != nil || !b.checks() {
			return nil
		}
		if err == nil {
			errs[b.place] = c.checkIn(ctx, claims, docs[i])
		} else { // one of them may be to blame
			errs[b.place] = c.check(ctx)
		}
		if errs[b.place] == nil && c.collision != nil {
			errs[b.place] = c.collision
		}
		return nil
	})
}

// recordOf returns the record of a process, or nil raw if there is none, as it is after
// the heartbeat.
func (r *Registry) recordOf(b *remoteBeat, raw bson.Raw) (*record, error) {
	if raw == nil { // pruned while it was silent: the next heartbeat stores it again
		r.mu.Lock()
		delete(r.remotes, MemberKey(b.doc.Key))
		r.mu.Unlock()
		return nil, fmt.Errorf("registry: record of %v: %w", b.l.gpid, store.ErrNotFound)
	}
	doc, err := decode[record](raw, processes)
	if doc.Final {
		doc.alone()
	} else if err == nil {
		b.l.over(&doc.Process)
	}
	return &doc, err
}
