package registry

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/store"
)

// PruneOptions configure [Registry.Prune]. The zero value, like a nil pointer, is ready to
// use.
type PruneOptions struct {
	// Samples is how long samples are kept after the end of their process. Living processes
	// delete their own samples after seven days. Default: 7 days.
	Samples time.Duration
	// Records is how long the record of a process is kept after its last heartbeat.
	// Default: 365 days.
	Records time.Duration
}

// Pruned counts the samples and the records that were deleted.
type Pruned struct {
	Samples int64
	Records int64
}

// Prune deletes old samples and the records of processes that ended long ago, by the wall
// clock of this host. It begins with a [Registry.Sweep]. Ids of pruned processes can still
// be traced: claims are never deleted and keep what a trace needs. Negative options are an
// error. After an error, part of the data may have been deleted.
func (r *Registry) Prune(ctx context.Context, o *PruneOptions) (Pruned, error) {
	keep := *cmp.Or(o, &PruneOptions{})
	keep.Samples, keep.Records = cmp.Or(keep.Samples, keepSamples), cmp.Or(keep.Records, 365*24*time.Hour)
	var done Pruned
	if keep.Samples < 0 || keep.Records < 0 {
		return done, fmt.Errorf("registry: prune: negative duration: samples %v, records %v", keep.Samples, keep.Records)
	}
	now := wall(r.options.Now)
	records := now.Add(-keep.Records)
	_, err := r.sweep(ctx, maxTime(records, now.Add(-lateFor)))
	if err == nil {
		done.Samples, err = r.pruneSamples(ctx, maxTime(now.Add(-keep.Samples), records), records)
	}
	if err == nil {
		done.Records, err = r.pruneRecords(ctx, records)
	}
	return done, err
}

// pruneSamples deletes the samples of processes that ended before a time. It skips
// processes that ended before the time of the last Prune's marks, because they have no
// samples. It also marks that records from before a time may be deleted.
func (r *Registry) pruneSamples(ctx context.Context, before, records time.Time) (n int64, err error) {
	m, err := r.readMarks(ctx)
	if err == nil && m.Samples.Before(before) {
		n, err = r.pruneEnded(ctx, m.Samples, before, maxBatch, func(entries []*endedDoc) (int64, error) {
			blocks := each.Of(entries, func(e *endedDoc) string { return e.Key[max(0, len(e.Key)-8):] })
			return r.deleteSamples(ctx, blocks, before)
		})
		m.Samples = before
	}
	if err == nil {
		m.Records = maxTime(m.Records, records)
		err = r.mark(ctx, m)
	}
	return n, err
}

// pruneRecords deletes the records of processes that ended before a time, many with each
// call of the store.
func (r *Registry) pruneRecords(ctx context.Context, before time.Time) (int64, error) {
	return r.pruneEnded(ctx, time.Time{}, before, r.pruneAtOnce, func(entries []*endedDoc) (int64, error) {
		slices.SortFunc(entries, func(a, b *endedDoc) int { return cmp.Compare(a.process, b.process) })
		return r.pruneEntries(ctx, entries, before)
	})
}

// pruneEnded calls prune for the processes that ended between two times, with at most most
// of them at once. It returns the sum of the results of prune.
func (r *Registry) pruneEnded(ctx context.Context, from, to time.Time, most int, prune func([]*endedDoc) (int64, error)) (n int64, err error) {
	q := store.Query{Range: between(millis(from), millis(to)), Limit: most}
	for {
		var entries []*endedDoc
		for doc, err := range findDocs[endedDoc](ctx, r.store, endedRecords, q) {
			if err != nil {
				return n, err
			}
			entries, q.After = append(entries, doc), storeKey(doc.Key)
		}
		deleted, err := prune(entries)
		if n += deleted; err != nil || len(entries) < most {
			return n, err
		}
	}
}

// pruneEntries deletes the records of entries, and then the entries.
func (r *Registry) pruneEntries(ctx context.Context, entries []*endedDoc, before time.Time) (n int64, err error) {
	gone := make([]store.Swap, 0, len(entries))
	for batch := range slices.Chunk(entries, r.pruneBatch) {
		keys := make([]string, len(batch))
		for i, e := range batch {
			keys[i], gone = e.process, append(gone, store.Swap{Old: e.raw})
		}
		deleted, err := r.pruneProcesses(ctx, keys, before)
		n += int64(deleted)
		if err != nil {
			return n, err
		}
	}
	_, err = swapAll(ctx, r.store, endedRecords, gone)
	return n, err
}

// pruneProcesses deletes the records with the keys, and returns how many it has deleted.
// First it replaces the claims of the processes by essences. Without these, another process
// with the same value would wrongly look like the only candidate for an id.
func (r *Registry) pruneProcesses(ctx context.Context, keys []string, before time.Time) (deleted int, err error) {
	raws, docs, err := getMany[record](ctx, r.store, processRecords, keys)
	if err != nil {
		return 0, err
	}
	var records []store.Swap
	var hostKeys []string
	by := map[string]*Process{} // the key of a claim
	for i, doc := range docs {
		if doc == nil || !doc.Final || !doc.Last.Time.Before(before) { // it is alive, or its entry is another one
			continue
		}
		records = append(records, store.Swap{Old: raws[i]})
		claimants(by, &doc.Process)
		if k := hostKey(&doc.Process); k != "" {
			hostKeys = append(hostKeys, k)
		}
	}
	claims, err := r.shrink(ctx, by)
	if err != nil {
		return 0, err
	}
	hostDocs, _, err := getMany[hostDoc](ctx, r.store, hostRecords, hostKeys)
	var hosts []store.Swap
	for _, raw := range hostDocs {
		if raw != nil {
			hosts = append(hosts, store.Swap{Old: raw})
		}
	}
	if err == nil {
		_, err = swapAll(ctx, r.store, claimRecords, claims)
	}
	if err == nil {
		_, err = swapAll(ctx, r.store, hostRecords, hosts)
	}
	if err == nil {
		deleted, err = swapAll(ctx, r.store, processRecords, records)
	}
	return deleted, err
}

// claimants adds p to all under the keys of its claims, each time with the value of that
// claim.
func claimants(all map[string]*Process, p *Process) {
	all[p.Block] = p
	for _, a := range p.adoptedValues() {
		by := *p
		by.Value, by.EvidenceID, by.From, by.Confirmed = a.Value, a.EvidenceID, a.From, a.Confirmed
		all[adoptionKey(a.Value, a.From, p.Block)] = &by
	}
}

// shrink returns swaps that replace claims by what a trace needs of them. The claim of the
// block of an adopted process becomes empty, because no ids have that block.
func (r *Registry) shrink(ctx context.Context, all map[string]*Process) (swaps []store.Swap, err error) {
	raws, docs, err := getMany[claim](ctx, r.store, claimRecords, slices.Collect(maps.Keys(all)))
	for i, cl := range docs {
		if cl == nil || cl.Member != all[cl.Key].Member { // it is another's after it was lost
			continue
		}
		small := claim{Key: cl.Key, Format: format, Idle: cl.Idle}
		if !cl.Idle {
			small.Essence = essenceOf(all[cl.Key])
		}
		swaps = append(swaps, store.Swap{Old: raws[i], New: small})
	}
	return swaps, err
}

const (
	// pruneAtOnce is how many entries are read together. Their records are deleted in the
	// order of keys, because neighbours share a page of the database.
	pruneAtOnce = 100_000

	// pruneBatch is how many of these records are in memory, about 1 KB each. The keys of
	// their claims are random, so a larger batch has more claims on the same page.
	pruneBatch = 20_000
)
