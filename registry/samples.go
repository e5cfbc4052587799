package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

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
	*d = sampleDoc{raw, key, r.samples(nil)}
	if r.err != nil || len(d.samples) == 0 {
		return fmt.Errorf("%s: %w", key, errCutShort)
	}
	return nil
}

// samplesDoc returns the document of samples of a process.
func samplesDoc(block string, all []Sample) bson.Raw {
	return dataDoc(sampleKey(block, all[0].Time), appendSamples(nil, all))
}

// storeSamples stores samples of a process, in order of time. It may be called again
// with the same samples and later ones.
func (r *Registry) storeSamples(ctx context.Context, block string, held []Sample) error {
	for len(held) > 0 {
		n := 1
		for n < len(held) && held[n].Time.Sub(held[0].Time) < time.Hour {
			n++
		}
		_, err := r.store.Insert(ctx, samples, samplesDoc(block, held[:n]))
		if errors.Is(err, store.ErrDuplicate) {
			var before sampleDoc
			before, err = get[sampleDoc](ctx, r.store, samples, sampleKey(block, held[0].Time))
			for n = 0; err == nil && n < len(held) && !held[n].Time.After(before.samples[len(before.samples)-1].Time); {
				n++
			}
		}
		if err != nil {
			return fmt.Errorf("registry: store samples: %w", err)
		}
		held = held[n:]
	}
	return nil
}

// newSamples are samples of a process, in order of time, that are to be stored.
type newSamples struct {
	block   string
	samples []Sample
}

// putSamples is storeSamples for many processes with few calls of the store.
func (r *Registry) putSamples(ctx context.Context, all []newSamples) error {
	var docs []any
	var of, rest []newSamples // rest takes calls of its own
	for _, n := range all {
		switch last := len(n.samples) - 1; {
		case last < 0:
		case n.samples[last].Time.Sub(n.samples[0].Time) >= time.Hour:
			rest = append(rest, n)
		default:
			docs = append(docs, samplesDoc(n.block, n.samples))
			of = append(of, n)
		}
	}
	_, err := r.store.InsertMany(ctx, samples, docs, nil)
	if refused, ok := errors.AsType[*store.RefusedError](err); ok {
		err = nil
		for _, refusal := range refused.Refused { // they were stored before, perhaps others with them
			rest = append(rest, of[refusal.Index])
		}
	}
	if err != nil {
		return fmt.Errorf("registry: store samples: %w", err)
	}
	for _, n := range rest {
		if err := r.storeSamples(ctx, n.block, n.samples); err != nil {
			return err
		}
	}
	return nil
}

// stored returns the stored samples of a process from one time to another, each
// once; a zero time means no bound.
func (r *Registry) stored(ctx context.Context, block string, from, to time.Time) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		first := from
		if !first.IsZero() {
			first = from.Add(-maxSpan)
		}
		var last time.Time
		for doc, err := range read[sampleDoc](ctx, r.store, samples, store.Query{Range: sampleRange(block, first, to)}) {
			if err != nil {
				yield(Sample{}, err)
				return
			}
			for _, s := range doc.samples {
				if !s.Time.After(last) || s.Time.Before(from) || !to.IsZero() && !s.Time.Before(to) {
					continue
				}
				if last = s.Time; !yield(s, nil) {
					return
				}
			}
		}
	}
}

// samplesOf returns the samples of p from one time to another: those that are stored
// and the latest ones of its living record.
func (r *Registry) samplesOf(ctx context.Context, p *Process, from, to time.Time) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		var recent []Sample
		for _, s := range p.Recent {
			if !s.Time.Before(from) && (to.IsZero() || s.Time.Before(to)) {
				recent = append(recent, s)
			}
		}
		for s, err := range r.stored(ctx, p.Block, from, to) {
			for err == nil && len(recent) > 0 && !recent[0].Time.After(s.Time) {
				if recent[0].Time.Before(s.Time) && !yield(recent[0], nil) {
					return
				}
				recent = recent[1:]
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
		for _, s := range recent {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// nearSamples is the stored samples of a process next to a time, which are being read.
type nearSamples struct {
	block string
	done  sync.WaitGroup
	found [2][]Sample // that begin before the time, and later
	errs  [2]error
}

// readNear begins to read the stored samples of a process next to a time.
func (r *Registry) readNear(ctx context.Context, block string, at time.Time) *nearSamples {
	n := &nearSamples{block: block}
	// The first sample of a document is the one in its key: two documents that begin
	// before the time have two samples before it.
	for i, q := range []store.Query{
		{Range: sampleRange(block, time.Time{}, at), Descending: true, Limit: 2},
		{Range: sampleRange(block, at, time.Time{}), Limit: 1},
	} {
		n.done.Go(func() {
			for doc, err := range read[sampleDoc](ctx, r.store, samples, q) {
				if n.errs[i] = err; err != nil {
					return
				}
				n.found[i] = append(n.found[i], doc.samples...)
			}
		})
	}
	return n
}

// wait returns the samples when they are read. It may be called again.
func (n *nearSamples) wait() ([]Sample, error) {
	n.done.Wait()
	return slices.Concat(n.found[0], n.found[1]), errors.Join(n.errs[0], n.errs[1])
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
