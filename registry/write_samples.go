package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/store"
)

// newSamples are samples of a process, in order of time, that are not stored yet.
type newSamples struct {
	block   string
	samples []Sample
}

// putSamples stores samples of processes with few calls of the store. It may be called
// again with the same samples and later ones.
func (r *Registry) putSamples(ctx context.Context, all []newSamples) error {
	for {
		all = slices.DeleteFunc(slices.Clone(all), func(n newSamples) bool { return len(n.samples) == 0 })
		if len(all) == 0 {
			return nil
		}
		docs := make([]any, len(all))
		lengths := make([]int, len(all)) // of the documents, each of an hour at most
		for i, n := range all {
			end := n.samples[0].Time.Add(time.Hour)
			if lengths[i] = slices.IndexFunc(n.samples, func(s Sample) bool { return !s.Time.Before(end) }); lengths[i] < 0 {
				lengths[i] = len(n.samples)
			}
			docs[i] = samplesDoc(n.block, n.samples[:lengths[i]])
		}
		_, err := r.store.InsertMany(ctx, sampleRecords, docs, nil)
		for i, err := range errorsOf(len(all), err) {
			n, done := &all[i], lengths[i]
			if errors.Is(err, store.ErrDuplicate) { // some were stored before
				var before sampleDoc
				before, err = getDoc[sampleDoc](ctx, r.store, sampleRecords, sampleKey(n.block, n.samples[0].Time))
				for done = 0; err == nil && done < len(n.samples) && !n.samples[done].Time.After(before.samples[len(before.samples)-1].Time); {
					done++
				}
			}
			if err != nil {
				return fmt.Errorf("registry: write samples: %w", err)
			}
			n.samples = n.samples[done:]
		}
	}
}

// merge joins the documents of a process that begin between two times, at most an hour
// apart, into one. It keeps samples that are at least every apart. It may be called again
// after an error: a sample in two documents is read once.
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
	rest := each.Of(files[1:], func(f *sampleDoc) store.Swap { return store.Swap{Old: f.raw} })
	_, err = swapAll(ctx, r.store, sampleRecords, rest)
	return err
}

// deleteSamples deletes the documents that contain only samples from before a time, and
// returns the number of these samples.
func (r *Registry) deleteSamples(ctx context.Context, blocks []string, before time.Time) (n int64, err error) {
	ranges := each.Of(blocks, func(block string) store.Range { return sampleRange(block, time.Time{}, before) })
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
		return 0, err
	}
	return n, nil
}

// keepThinned is the time between two samples that are kept after keepAll.
const keepThinned = time.Minute
