package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/store"
)

// sampleDoc is the document of samples that follow one another; its key has the time
// of the first.
type sampleDoc struct {
	raw     bson.Raw // as it is stored
	key     string
	samples []Sample // at least one
}

// maxSpan is a bound of the time that the samples of a document are from: it begins in
// one hour and ends at most an hour later.
const maxSpan = 2 * time.Hour

// read reads the document from BSON, which it keeps.
func (d *sampleDoc) read(raw bson.Raw) error {
	key, data, err := splitData(raw)
	if err != nil {
		return err
	}
	r := reader{b: data}
	*d = sampleDoc{raw, key, r.samples()}
	if r.err != nil || len(d.samples) == 0 {
		return fmt.Errorf("%s: %w", key, errCutShort)
	}
	return nil
}

// samplesDoc returns the document of samples of a process.
func samplesDoc(block string, all []Sample) bson.Raw {
	return dataDoc(sampleKey(block, all[0].Time), appendSamples(nil, all))
}

// newSamples are samples of a process, in order of time, that are to be stored.
type newSamples struct {
	block   string
	samples []Sample
}

// putSamples stores samples of processes with few calls of the store. It may be called
// again with the same samples of a process and later ones.
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
				return fmt.Errorf("registry: store samples: %w", err)
			}
			n.samples = n.samples[done:]
		}
	}
}

// samplesNear reads the stored samples of a process next to a time.
func (r *Registry) samplesNear(ctx context.Context, block string, at time.Time) (found []Sample, err error) {
	// The first sample of a document is the one in its key: two documents that begin
	// before the time have two samples before it.
	queries := []store.Query{
		{Range: sampleRange(block, time.Time{}, at), Descending: true, Limit: 2},
		{Range: sampleRange(block, at, time.Time{}), Limit: 1},
	}
	var parts [2][]Sample
	err = inParallel(len(queries), func(i int) error {
		for doc, err := range findDocs[sampleDoc](ctx, r.store, sampleRecords, queries[i]) {
			if err != nil {
				return err
			}
			parts[i] = append(parts[i], doc.samples...)
		}
		return nil
	})
	return slices.Concat(parts[0], parts[1]), err
}

// around returns up to two of the samples from before a time, latest first, and the
// first one at that time or later.
func around(found []Sample, at time.Time) (before []Sample, after *Sample) {
	slices.SortFunc(found, func(a, b Sample) int { return a.Time.Compare(b.Time) })
	found = slices.CompactFunc(found, func(a, b Sample) bool { return a.Time.Equal(b.Time) })
	for i, s := range found {
		if !s.Time.Before(at) {
			after = &found[i]
			break
		}
		before = append([]Sample{s}, before[:min(len(before), 1)]...)
	}
	return before, after
}

// History returns the samples of a member from one time to another, in order of time and
// each once: those that are stored and the latest ones of its living record. A zero time
// means no bound. [Registry.All] returns the members that have a GPID. The error wraps
// [store.ErrNotFound] if the member is not recorded.
func (r *Registry) History(ctx context.Context, k MemberKey, from, to time.Time) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		m, err := r.member(ctx, k)
		if err != nil {
			yield(Sample{}, err)
			return
		}
		recent := m.record.Recent
		var last time.Time
		give := func(some []Sample) bool {
			for _, s := range some {
				if !s.Time.After(last) || s.Time.Before(from) || !to.IsZero() && !s.Time.Before(to) {
					continue
				}
				if last = s.Time; !yield(s, nil) {
					return false
				}
			}
			return true
		}
		first := from
		if !first.IsZero() {
			first = from.Add(-maxSpan)
		}
		for doc, err := range findDocs[sampleDoc](ctx, r.store, sampleRecords, store.Query{Range: sampleRange(m.record.Block, first, to)}) {
			if err != nil {
				yield(Sample{}, err)
				return
			}
			n := 0
			for n < len(recent) && recent[n].Time.Before(doc.samples[0].Time) {
				n++
			}
			if !give(recent[:n]) || !give(doc.samples) {
				return
			}
			recent = recent[n:]
		}
		give(recent)
	}
}

// keepThinned is the time between two samples that are kept after keepAll.
const keepThinned = time.Minute

// fewSamples is how many documents of samples most processes have that are about to be
// deleted.
const fewSamples = 20

// deleteSamples deletes the documents of processes that have only samples from
// before a time, and returns how many samples that are.
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
	rest := each.Of(files[1:], func(f *sampleDoc) store.Swap { return store.Swap{Old: f.raw} })
	if _, err := swapAll(ctx, r.store, sampleRecords, rest); err != nil {
		return fmt.Errorf("registry: merge samples: %w", err)
	}
	return nil
}
