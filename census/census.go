package census

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/objectid"
)

// Options say what a [Census] counts. The zero Options, like a nil pointer, are
// ready to use.
type Options struct {
	// Field is the field that is read from documents, with dots for one inside
	// another. Where it leads through arrays, every element counts.
	// Default: "_id".
	Field string

	// Format is how the sources are written. Default: [Auto].
	Format Format

	// Column is the column that is read from CSV. Default: Field.
	Column string

	// Collection is the only collection to read from an [Archive], with or
	// without the database's name before it. Default: all.
	Collection string

	// Range holds the ids to count; others are only counted as being outside.
	// Default: all.
	Range objectid.Range

	// Now is the time that ids must not be later than. Default: the system's.
	Now time.Time

	// Values makes the census keep what it needs to compare values that are no
	// ObjectIds, 16 bytes for each, which only [Compare] asks for.
	Values bool

	// MaxIDs, if above 0, is how many ids to take at most; [Census.Read] then
	// returns [ErrLimit]. Default: as many as there are.
	MaxIDs int64

	// Workers is how many goroutines may work at once. Default: one for each
	// core.
	Workers int
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Field == "" {
		out.Field = "_id"
	}
	if out.Column == "" {
		out.Column = out.Field
	}
	if out.Now.IsZero() {
		out.Now = time.Now()
	}
	if out.Workers <= 0 {
		out.Workers = runtime.GOMAXPROCS(0)
	}
	return out
}

// ErrTooMany is returned for sources that together have more than 2^32 - 1
// documents or lines: that many positions can be told apart.
var ErrTooMany = errors.New("census: more than 4294967295 documents or lines")

// ErrLimit is returned for sources with more ids than Options.MaxIDs.
var ErrLimit = errors.New("census: too many ids")

// Census collects ids. It needs 16 bytes of memory for each, whatever the size
// of the documents. Goroutines must not share one.
type Census struct {
	options Options
	path    []string
	pool    batchPool

	ids     *byWriter
	keys    records // of values that are no ids
	sources []*Source
	places  uint32 // documents or lines so far
	spans   []span
	outside int64
	taken   int64 // ids inside

	first, last uint32  // of plausible ids; first > last if there is none
	days        []int64 // plausible ids by day since 1970
	late        late
}

// span is a stretch of places that belong to one source.
type span struct {
	place  uint32
	source int
	number int64 // of the document at place, counted from 0
}

// New returns an empty census.
func New(o *Options) *Census {
	c := &Census{options: o.withDefaults(), first: math.MaxUint32, ids: newByWriter(), keys: records{shift: largeSegments}, days: make([]int64, math.MaxUint32/secondsPerDay+1)}
	c.path = strings.Split(c.options.Field, ".")
	c.pool.keep = c.options.Values
	return c
}

// Read adds everything that in holds, up to its end. The name is what a report
// calls the source. The error says where in the source reading stopped and why;
// what was read before still counts, and the report repeats the error. It wraps
// [ErrEmpty], [ErrFormat], [ErrTooMany], [ErrLimit], in's error or the context's
// cause.
//
// A document or line that cannot be read is no error if those behind it can be:
// see [Source.Broken].
//
// Read may leave a goroutine behind that waits for in, if in hangs.
func (c *Census) Read(ctx context.Context, name string, in io.Reader) error {
	src := &Source{Name: name, number: len(c.sources)}
	c.sources = append(c.sources, src)
	err := c.read(ctx, src, in)
	if err != nil {
		src.Error = err.Error()
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (c *Census) read(ctx context.Context, src *Source, in io.Reader) error {
	text, head, err := plainText(in)
	if err != nil {
		return err
	}
	format := c.options.Format
	if format == Auto {
		if format, err = detect(head, c.options.Column); err != nil {
			return err
		}
	}
	if strings.HasPrefix(string(head), utf8Mark) && format != Grep {
		if _, err := text.Discard(len(utf8Mark)); err != nil {
			return err
		}
		head = head[len(utf8Mark):]
	}
	src.Format = format
	src.Unit = "document"
	elements := c.options.Field != "_id"
	switch {
	case format == List, format == Grep, format == JSON && oneToALine(head):
		src.Unit = "line"
		l := &lines{in: text, ends: newlines, workers: c.options.Workers, pool: &c.pool}
		newParser := func() lineParser { return &jsonLines{path: c.path, elements: elements} }
		switch format {
		case List:
			newParser = func() lineParser { return list{} }
		case Grep:
			newParser = func() lineParser { return grep{} }
			l.ends = hexEnds
		}
		return l.read(ctx, newParser, func(b *batch) error { return c.take(src, b) })
	case format == CSV:
		src.Unit = "row"
		return c.streamed(ctx, src, func(emit func(*batch) error) error {
			return (&csvReader{text, c.options.Column, emit, &c.pool}).read(ctx)
		})
	}
	s := newStream(text)
	defer s.close()
	return c.streamed(ctx, src, func(emit func(*batch) error) error {
		if format == JSON {
			return (&jsonReader{s, c.path, elements, emit, &c.pool}).read(ctx)
		}
		r := &bsonReader{stream: s, path: c.path, elements: elements, emit: emit, pool: &c.pool}
		if format == Archive {
			return readArchive(ctx, r, c.options.Collection)
		}
		if err := r.read(ctx); err != io.EOF {
			return err
		}
		return nil
	})
}

// streamed takes the batches that read emits, while read goes on.
func (c *Census) streamed(ctx context.Context, src *Source, read func(emit func(*batch) error) error) error {
	batches := make(chan *batch, ahead)
	stop := make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		defer close(batches)
		failed <- read(func(b *batch) error {
			select {
			case batches <- b:
				return nil
			case <-stop:
				return errStop
			}
		})
	}()
	var err error
	for b := range batches {
		if err == nil {
			if err = c.take(src, b); err != nil {
				close(stop)
			}
		}
		c.pool.put(b)
	}
	if err != nil {
		return err
	}
	return <-failed
}

// take adds a batch.
func (c *Census) take(src *Source, b *batch) error {
	if b.collection != "" {
		src = c.part(src, b.collection)
	}
	if uint64(c.places)+uint64(b.documents) >= math.MaxUint32 {
		return ErrTooMany
	}
	base := c.places
	c.places += b.documents
	if n := len(c.spans); n == 0 || c.spans[n-1].source != src.number {
		c.spans = append(c.spans, span{base, src.number, src.Units})
	}
	src.Units += int64(b.documents)
	src.Without += b.without
	src.Broken += int64(len(b.problems))
	for _, p := range b.problems {
		if len(src.Problems) < maxProblems {
			src.Problems = append(src.Problems, Problem{c.position(base + p.place), p.err.Error()})
		}
	}
	for k, n := range b.others {
		src.Others += n
		src.others[k] += n
	}
	for _, s := range b.samples {
		if len(src.samples[s.kind]) < maxSamples {
			src.samples[s.kind] = append(src.samples[s.kind], Value{c.position(base + s.place), s.text})
		}
	}
	for i := range b.keys {
		b.keys[i].lo += uint64(base)
	}
	c.keys.append(b.keys...)
	return c.takeIDs(src, b, base)
}

// takeIDs adds the ids of a batch.
func (c *Census) takeIDs(src *Source, b *batch, base uint32) error {
	ids := b.ids
	if r := c.options.Range; r != (objectid.Range{}) {
		kept := ids[:0]
		for _, id := range ids {
			if r.Contains(id.id()) {
				kept = append(kept, id)
			}
		}
		c.outside += int64(len(ids) - len(kept))
		ids = kept
	}
	if limit := c.options.MaxIDs; limit > 0 && c.taken+int64(len(ids)) > limit {
		return fmt.Errorf("%w: more than %d", ErrLimit, limit)
	}
	c.taken += int64(len(ids))
	src.IDs += int64(len(ids))
	latest := latestSecond(c.options.Now)
	first, last := c.first, c.last
	inOrder := c.options.Field == "_id" && src.Format != Grep
	for i := range ids {
		r := &ids[i]
		r.lo += uint64(base)
		s := r.second()
		if s < earliest || s > latest || r.isBound() {
			continue
		}
		first, last = min(first, s), max(last, s)
		c.days[s/secondsPerDay]++
		if !inOrder {
			continue
		}
		if by := src.high.lateBy(s); by > lateAfter {
			c.late.add(*r, by)
		} else {
			src.high.add(s)
		}
	}
	c.first, c.last = first, last
	c.ids.append(ids)
	return nil
}

// part returns the source for one collection of the archive src.
func (c *Census) part(src *Source, collection string) *Source {
	if src.parts == nil {
		src.parts = map[string]*Source{}
	}
	p := src.parts[collection]
	if p == nil {
		p = &Source{Name: src.Name, Collection: collection, Format: src.Format, Unit: src.Unit, number: len(c.sources)}
		c.sources = append(c.sources, p)
		src.parts[collection] = p
	}
	return p
}

// position returns where place is.
func (c *Census) position(place uint32) Position {
	i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].place > place }) - 1
	sp := c.spans[i]
	src := c.sources[sp.source]
	return Position{src.Name, src.Collection, src.Unit, sp.number + int64(place-sp.place) + 1}
}

// batchPool hands out empty batches.
type batchPool struct {
	pool sync.Pool
	keep bool // see batch
}

func (p *batchPool) get() *batch {
	b, _ := p.pool.Get().(*batch)
	if b == nil {
		b = &batch{keep: p.keep}
	}
	return b
}

func (p *batchPool) put(b *batch) {
	b.reset()
	p.pool.Put(b)
}
