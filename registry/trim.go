package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/oidkit/oid/store"
)

// keepThinned is the time between two samples that are kept after keepAll.
const keepThinned = time.Minute

// fewSamples is how many documents of samples most processes have that are about to be
// deleted.
const fewSamples = 20

// deleteSamples deletes the documents of processes that have only samples from
// before a time, and returns how many samples that are.
func (r *Registry) deleteSamples(ctx context.Context, blocks []string, before time.Time) (n int64, err error) {
	ranges := make([]store.Range, len(blocks))
	for i, block := range blocks {
		ranges[i] = sampleRange(block, time.Time{}, before)
	}
	found, err := findMany[sampleDoc](ctx, r.store, sampleRecords, ranges, fewSamples)
	if err != nil {
		return 0, err
	}
	var swaps []store.Swap
	for _, files := range found {
		for _, f := range files {
			if f.samples[len(f.samples)-1].Time.Before(before) {
				swaps = append(swaps, store.Swap{Old: f.raw})
				n += int64(len(f.samples))
			}
		}
	}
	if _, err := swapAll(ctx, r.store, sampleRecords, swaps); err != nil {
		return 0, fmt.Errorf("registry: delete samples: %w", err)
	}
	return n, nil
}

// merge puts the documents of a process that begin from a time to another, at most an
// hour later, into one, with samples that are at least every apart. It may be called
// again after an error: samples that are in two documents are read once.
func (r *Registry) merge(ctx context.Context, block string, from, to time.Time, every time.Duration) error {
	found, err := findMany[sampleDoc](ctx, r.store, sampleRecords, []store.Range{sampleRange(block, from, to)}, fewSamples)
	if err != nil || len(found[0]) == 0 {
		return err
	}
	files := found[0]
	var all []Sample
	n := 0
	for _, f := range files {
		for _, s := range f.samples {
			n++
			if len(all) == 0 || s.Time.After(all[len(all)-1].Time) && s.Time.Sub(all[len(all)-1].Time) >= every {
				all = append(all, s)
			}
		}
	}
	if len(files) == 1 && n == len(all) {
		return nil
	}
	if _, err := r.store.Swap(ctx, sampleRecords, files[0].raw, samplesDoc(block, all)); err != nil {
		return fmt.Errorf("registry: merge samples: %w", err)
	}
	var rest []store.Swap
	for _, f := range files[1:] {
		rest = append(rest, store.Swap{Old: f.raw})
	}
	if _, err := swapAll(ctx, r.store, sampleRecords, rest); err != nil {
		return fmt.Errorf("registry: merge samples: %w", err)
	}
	return nil
}
