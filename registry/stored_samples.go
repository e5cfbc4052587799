package registry

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// sampleDoc is a document of consecutive samples. Its key contains the time of the first
// one.
type sampleDoc struct {
	raw     bson.Raw // as it is stored
	key     string
	samples []Sample // at least one
}

// maxSpan bounds the time between the first and the last sample of a document, which begins
// in one hour and ends at most an hour later.
const maxSpan = 2 * time.Hour

// read reads the document from BSON, and keeps raw.
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

// samplesNear reads the stored samples of a process next to a time, and others around them.
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

// around returns up to two samples before a time, latest first, and the first sample at
// that time or later, or nil.
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

// History returns the samples of a member that were taken at from or later and before to,
// oldest first. A zero from or to means no bound on that side. The error wraps
// [store.ErrNotFound] if the member is not recorded. The first error ends the sequence.
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

// fewSamples is the largest number of documents of samples that most processes have when
// they are deleted.
const fewSamples = 20
