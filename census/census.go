// Package census analyses all ObjectIds of a collection: when its documents were
// created, by how many processes, and which ids deserve attention.
//
// Start with [New], read sources into the [Census] with [Census.Read], and get the
// [Report]:
//
//	c := census.New(nil)
//	err := c.Read(ctx, "orders.bson", file)
//	r, err := c.Report(nil)
//	for _, f := range r.Findings {
//		fmt.Println(f.Title, f.Reason)
//	}
//
// [Formats] lists what can be read. [Compare] finds the ids that only one of two
// censuses has. The command "oid census" writes reports as text, as JSON and as pages.
//
// # What is promised
//
// Every id counts: numbers are not estimated from a sample. A census needs at most
// 24 bytes of memory for each id, and some hundred megabytes in addition, whatever
// the size of the documents; beyond a limit, see Options.Memory, ids go to disk, and the
// numbers are the same. No input makes it crash or run for ever. Unreadable
// records are reported with their positions and skipped, and what was read before
// still counts.
//
// # What is not promised
//
// An id contains its process value and its creation time by the clock of that
// process. Everything else is inferred from the counters of each process value:
//
//   - Gaps are counter values that are not in the data. They were used for other
//     collections, for documents that are deleted, or not at all. If a
//     process creates 2^24 ids or more elsewhere between two ids in the data, its
//     counter wraps, and each full round of 2^24 is not counted. Between one run of a
//     process and the next there are no gaps.
//   - A clock step backwards shows as ids whose counters go on where later ids ended.
//     A step in a period without ids does not show, nor one by less than some
//     seconds; a step forwards never does.
//   - A shared process value shows as sequences of counters that alternate. Some
//     twenty ids of each process are enough. Runs that follow each other, with the
//     same process value, are restarts.
//   - A resumed state shows as runs whose counters begin among those that were used
//     before. A single one among 1,000 ids or more may be a restart.
//   - Threads that reserve counters in blocks look like clock steps and shared values.
//     Where they explain the ids, nothing is claimed.
//   - Findings about single processes must be so unlikely by chance that one in 16,384
//     censuses has a wrong one. What is less certain, but unlikely in one of 64 process
//     values, is in Report.Doubts, and so is a process that creates most of its ids
//     elsewhere, by 16,384 counters from id to id. All other breaks are restarts.
//   - Ids from before 2009 and from the future are reported and are no evidence of
//     anything else.
//
// # Design
//
// Each id becomes a record of 16 bytes in the list of its process value. When memory is
// full, the lists are sorted and written to disk (internal/idset). They are read again for
// a few process values at a time.
// Dumps are mostly in order of time, so these lists are nearly sorted, and one pass over each
// follows its counter (process.go). Only a process value that is not simply one
// process with a clock that runs forwards is divided into lines (lines.go), of which
// those that overlap or adjoin make a cluster (cluster.go). Its ids are examined in the
// order of their counters (sequence.go). A verdict adds up the evidence (suspects.go) of the
// whole life of a process value against a healthy process (judge.go). Every threshold is
// in thresholds.go.
package census

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"time"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/objectid"
)

// Options define what a [Census] counts. The zero Options, like a nil pointer, are
// ready to use.
type Options struct {
	// Field is the field that is read from documents, with dots for one inside
	// another. Of an array on its path, every element counts.
	// Default: "_id".
	Field string

	// Format is how the sources are written. Default: [FormatAuto].
	Format Format

	// Column is the column that is read from CSV. Default: Field.
	Column string

	// Collection is the only collection to read from a [FormatArchive], with or
	// without the database's name before it. Default: all.
	Collection string

	// Workers is how many goroutines may work at once. Default: one for each core.
	Workers int

	// Unpacked, if it is set, is called with the number of bytes that were just
	// decompressed. Its error ends the reading.
	Unpacked func(bytes int) error

	// MaxWindow is how much memory decompression may take, in bytes. Default:
	// 128 MiB, what "zstd --long" needs.
	MaxWindow uint64

	// Range holds the ids to count; others are only counted as being outside.
	// Default: all.
	Range objectid.Range

	// Now is the reference time: ids more than five minutes later count as made
	// in the future. Default: the system's time.
	Now time.Time

	// MaxIDs, if above 0, is how many ids to take at most; [Census.Read] then
	// returns [ErrLimit]. Default: no limit.
	MaxIDs int64

	// Keep, if it is set, is called before ids are kept in memory, 16 bytes for
	// each. Its error ends the reading.
	Keep func(ids int) error

	// Memory is about how many bytes of memory to use at most. Ids for which there
	// is no room are spilled to a temporary file, in the folder that os.TempDir
	// names. Default: [MemoryLimit]. 100 MB is the least that is kept to.
	Memory int64
}

func (o *Options) withDefaults() Options {
	out := *cmp.Or(o, &Options{})
	read := out.reading().WithDefaults()
	out.Field, out.Workers = read.Field, read.Workers
	if out.Memory <= 0 {
		out.Memory = MemoryLimit()
	}
	if out.Now.IsZero() {
		out.Now = time.Now()
	}
	return out
}

// reading returns how a source is read.
func (o *Options) reading() source.Options {
	return source.Options{
		Field: o.Field, Format: string(o.Format), Column: o.Column, Collection: o.Collection, Workers: o.Workers,
		Unpacked: o.Unpacked, MaxWindow: o.MaxWindow,
	}
}

// ErrTooMany is returned for sources that together have more than 2^32 - 1 documents
// or lines, more than positions can be recorded.
var ErrTooMany = errors.New("census: more than 4294967295 documents or lines")

// ErrLimit is returned for sources with more ids than Options.MaxIDs.
var ErrLimit = errors.New("census: too many ids")

// Census collects ids. It needs 16 to 24 bytes of memory for each, whatever the size
// of the documents, or of disk beyond Options.Memory: Close removes what is there.
// Goroutines must not share one.
type Census struct {
	options Options

	collections []*collection
	sources     []*Source
	places      uint32 // documents or lines so far
	taken       int64  // ids inside the range
	spans       []placeSpan
	partial     string // see Report

	space idset.Space
}

// placeSpan is a stretch of places that belong to one source.
type placeSpan struct {
	place  uint32
	source *Source
	number int64 // of the document at place, counted from 0
}

// New returns an empty census.
func New(o *Options) *Census {
	c := &Census{options: o.withDefaults()}
	c.space = idset.Space{Room: inMemory(c.options.Memory), Workers: c.options.Workers}
	return c
}

// Units returns how many documents, lines and rows have been read.
func (c *Census) Units() int64 { return int64(c.places) }

// EndEarly makes reports say that the census ended before all sources were read, and
// why.
func (c *Census) EndEarly(why string) { c.partial = why }

// Read adds the ids in in, up to its end. A report shows the source under the given
// name. The error contains where in the source reading stopped, and why; what was
// read before still counts, and the report repeats the error. It wraps
// [ErrEmpty], [ErrFormat], [ErrTooMany], [ErrLimit], in's error or the context's
// cause.
//
// A document or line that cannot be read is not an error if those after it can be:
// see [Source.Broken].
//
// Read may leave a goroutine behind that waits for in, if in hangs.
func (c *Census) Read(ctx context.Context, name string, in io.Reader) error {
	return c.ReadCollection(ctx, name, "", in)
}

// ReadCollection is [Census.Read] for the ids of the collection with the given name,
// which is judged by itself. All sources without a collection's name are judged as one.
func (c *Census) ReadCollection(ctx context.Context, name, collection string, in io.Reader) error {
	src := c.addSource(&Source{Name: name, Collection: collection, Format: FormatAuto})
	o := c.options.reading()
	o.Name = name
	input, err := source.Open(in, o)
	if err == nil {
		src.Format, src.Unit = Format(input.Format), input.Unit
		err = input.Read(ctx, c.preparer(), func(b *source.Batch) error { return c.take(src, b) })
	}
	if err != nil {
		src.Error = err.Error()
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// take adds a batch.
func (c *Census) take(src *Source, b *source.Batch) error {
	if b.Collection != "" {
		src = c.part(src, b.Collection)
	}
	if uint64(c.places)+uint64(b.Documents) >= math.MaxUint32 {
		return ErrTooMany
	}
	base := c.places
	c.places += b.Documents
	if n := len(c.spans); n == 0 || c.spans[n-1].source != src {
		c.spans = append(c.spans, placeSpan{base, src, src.Units})
	}
	src.Units += int64(b.Documents)
	src.Without += b.Without
	src.Broken += b.Broken
	for _, p := range b.Problems {
		if len(src.Problems) < maxProblems {
			src.Problems = append(src.Problems, Problem{c.position(base + p.Place), p.Err.Error()})
		}
	}
	for k, n := range b.Others {
		src.Others += n
		src.others[k] += n
	}
	for _, s := range b.Samples {
		if len(src.samples[s.Type]) < source.MaxSamples {
			src.samples[s.Type] = append(src.samples[s.Type], Value{c.position(base + s.Place), s.Text})
		}
	}
	p := b.Prepared.(*prepared)
	if err := c.keep(int64(len(p[0].records) + len(p[hexStrings].records))); err != nil {
		return err
	}
	for k := range p {
		src.found[k] += int64(len(p[k].records))
		p[k].apply(&src.collection.found[k], base)
	}
	return c.space.Fit()
}

// keep counts n ids, unless they are too many.
func (c *Census) keep(n int64) error {
	if limit := c.options.MaxIDs; limit > 0 && c.taken+n > limit {
		return fmt.Errorf("%w: more than %d", ErrLimit, limit)
	}
	c.taken += n
	if c.options.Keep != nil {
		return c.options.Keep(int(n))
	}
	return nil
}

// addSource adds src to the census and to its collection.
func (c *Census) addSource(src *Source) *Source {
	src.others, src.samples, src.parts = map[string]int64{}, map[string][]Value{}, map[string]*Source{}
	src.collection = c.collection(src.Collection)
	src.collection.sources = append(src.collection.sources, src)
	c.sources = append(c.sources, src)
	return src
}

// part returns the source for the collection of the archive src with a name.
func (c *Census) part(src *Source, name string) *Source {
	p := src.parts[name]
	if p == nil {
		p = c.addSource(&Source{Name: src.Name, Collection: name, Format: src.Format, Unit: src.Unit})
		src.parts[name] = p
		src.Collections++
	}
	return p
}

// position returns where place is.
func (c *Census) position(place uint32) Position {
	i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].place > place }) - 1
	sp := c.spans[i]
	return Position{sp.source.Name, sp.source.Collection, sp.source.Unit, sp.number + int64(place-sp.place) + 1}
}

// latestSecond is the last second that is not the future.
func latestSecond(now time.Time) uint32 {
	return uint32(min(max(now.Add(era.Tolerance).Unix(), int64(earliest)), math.MaxUint32))
}
