package census

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/objectid"
)

// load adds a saved census, and those that follow it as in the output of cat. Their
// sources follow src, which names its file.
func (c *Census) load(ctx context.Context, src *Source, in io.Reader) error {
	magic := make([]byte, len(source.SavedMagic))
	for {
		_, err := io.ReadFull(in, magic)
		switch {
		case err == io.EOF:
			return nil
		case err == nil && string(magic) == source.SavedMagic:
			err = c.loadOne(ctx, src, in)
		case err == nil, err == io.ErrUnexpectedEOF:
			err = fmt.Errorf("%w: what follows its end does not begin as one", ErrSaved)
		}
		if err != nil {
			return err
		}
	}
}

// loadOne adds a saved census whose beginning has been read.
func (c *Census) loadOne(ctx context.Context, src *Source, in io.Reader) error {
	var buf bytes.Buffer
	kind, payload, err := readFrame(in, &buf)
	if err != nil {
		return err
	}
	var saved savedCensus
	if kind != frameMeta {
		return fmt.Errorf("%w: it does not begin with its description", ErrSaved)
	}
	if err := json.Unmarshal(payload, &saved); err != nil {
		return fmt.Errorf("%w: %w", ErrSaved, err)
	}
	l, err := c.newLoader(src, &saved)
	if err != nil {
		return err
	}
	for {
		if kind, payload, err = readFrame(in, &buf); err != nil {
			return err
		}
		switch kind {
		case frameIDs:
			if err := l.add(payload); err != nil {
				return err
			}
		case frameEnd:
			return nil
		default:
			return fmt.Errorf("%w: a part of kind %q", ErrSaved, kind)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// loader adds the ids of a saved census.
type loader struct {
	*Census
	base        uint32        // of its places
	places      uint32        // that it has
	collections []*collection // by their numbers
	latest      uint32
	group       batchIDs
}

// newLoader adds the sources of saved.
func (c *Census) newLoader(src *Source, saved *savedCensus) (*loader, error) {
	switch {
	case saved.Field != c.options.Field:
		return nil, fmt.Errorf("%w: it is of the field %q, not of %q", ErrSaved, saved.Field, c.options.Field)
	case uint64(c.places)+uint64(saved.Places) >= math.MaxUint32:
		return nil, ErrTooMany
	}
	if err := saved.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSaved, err)
	}
	if own := src.collection; len(own.sources) == 1 {
		// No id belongs to the collection of the file itself.
		c.collections = slices.DeleteFunc(c.collections, func(l *collection) bool { return l == own })
	}
	l := &loader{Census: c, base: c.places, places: saved.Places, latest: latestSecond(c.options.Now)}
	first := len(c.sources)
	for _, s := range saved.Spans {
		c.spans = append(c.spans, placeSpan{l.base + s.Place, first + s.Source, s.Number})
	}
	c.places += saved.Places
	src.Collections += len(saved.Sources)
	for _, s := range saved.Collections {
		m := c.collection(s.Name)
		m.outside += s.Outside
		m.late.restore(s.Late, l.base)
		if s.StringsLate.Count > 0 || s.StringsOutside > 0 {
			m.strings().outside += s.StringsOutside
			m.strings().late.restore(s.StringsLate, l.base)
		}
		l.collections = append(l.collections, m)
	}
	for i := range saved.Sources {
		c.restore(&saved.Sources[i])
	}
	if c.partial == "" {
		c.partial = saved.Partial
	}
	return l, nil
}

// check returns an error if s cannot be of a census.
func (s *savedCensus) check() error {
	next := uint32(0)
	for i, sp := range s.Spans {
		if sp.Source < 0 || sp.Source >= len(s.Sources) || sp.Place < next || i == 0 && sp.Place > 0 || sp.Number < 0 {
			return fmt.Errorf("a stretch of places that cannot be: %+v", sp)
		}
		next = sp.Place + 1
	}
	if next > s.Places || (next == 0) != (s.Places == 0) {
		return fmt.Errorf("%d places, of which the last stretch begins at %d", s.Places, next)
	}
	for i := range s.Collections {
		for _, late := range []*lateIDs{&s.Collections[i].Late, &s.Collections[i].StringsLate} {
			for _, r := range append(late.Examples, late.Latest) {
				if late.Count > 0 && r.Place() >= s.Places || late.Count < int64(len(late.Examples)) {
					return fmt.Errorf("late ids that cannot be: %+v", late)
				}
			}
		}
	}
	return nil
}

// restore adds a saved source.
func (c *Census) restore(saved *savedSource) {
	s := c.addSource(&saved.Source)
	s.objectIDs, s.stringIDs = saved.ObjectIDs, saved.Strings
	position := func(number int64) Position { return Position{s.Name, s.Collection, s.Unit, number} }
	for _, p := range saved.Problems[:min(len(saved.Problems), maxProblems)] {
		s.Problems = append(s.Problems, Problem{position(p.Number), p.Text})
	}
	for k := range source.TypeCount {
		s.others[k] = saved.Others[k.String()]
		s.Others += s.others[k]
		samples := saved.Samples[k.String()]
		for _, v := range samples[:min(len(samples), source.MaxSamples)] {
			s.samples[k] = append(s.samples[k], Value{position(v.Number), v.Text})
		}
	}
}

// restore adds saved, whose places begin at base.
func (l *lateIDs) restore(saved lateIDs, base uint32) {
	if saved.Most > l.Most {
		saved.Latest.Lo += uint64(base)
		l.Most, l.Latest = saved.Most, saved.Latest
	}
	for i := range saved.Examples {
		saved.Examples[i].Lo += uint64(base)
	}
	l.sighting.merge(saved.sighting)
}

// add adds the ids in a payload.
func (l *loader) add(payload []byte) error {
	number, n := binary.Uvarint(payload)
	payload = payload[max(n, 0):]
	count, m := binary.Uvarint(payload)
	if n <= 0 || m <= 0 || number >= uint64(len(l.collections)*setCount) || count > idset.MaxBlock {
		return fmt.Errorf("%w: ids of no collection", ErrSaved)
	}
	g := &l.group
	g.reset()
	var err error
	if g.records, err = idset.DecodeBlock(g.records, payload[m:], int(count)); err != nil {
		return fmt.Errorf("%w: %w", ErrSaved, err)
	}
	for _, r := range g.records {
		if r.Place() >= l.places {
			return fmt.Errorf("%w: an id at place %d of %d", ErrSaved, r.Place(), l.places)
		}
	}
	to := l.collections[number/setCount]
	if number%setCount == setStrings {
		to = to.strings()
	}
	if within := l.options.Range; within != (objectid.Range{}) {
		all := len(g.records)
		g.records = slices.DeleteFunc(g.records, func(r idset.Record) bool { return !within.Contains(r.ID()) })
		g.outside = int64(all - len(g.records))
	}
	if err := l.keep(int64(len(g.records))); err != nil {
		return err
	}
	g.measure(false, l.latest)
	g.apply(to, nil, l.base)
	return l.space.Fit()
}
