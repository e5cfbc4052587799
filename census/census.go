// Package census analyses all ObjectIds of a collection. It tells when the documents were
// created, how many processes created them, and which ids deserve attention.
//
// Create a [Census] with [New], read sources into it with [Census.Read], and ask for a
// [Report] with [Census.Report]:
//
//	c := census.New(nil)
//	defer c.Close()
//	err := c.Read(ctx, "orders.bson", file)
//	r, err := c.Report(nil)
//	for _, f := range r.Findings {
//		fmt.Println(f.Title, f.Reason)
//	}
//
// [Formats] lists the formats that a census reads. [Compare] finds the ids that only one
// of two censuses contains. The command "oid census" writes reports as text, JSON and HTML.
//
// # Terms
//
// The process value is the five bytes of an id between its time and its counter. Normally
// one process uses one process value, starts its counter at a random number and adds one
// for each id. A counter that does anything else makes a break.
//
// A source is what a census reads: a file, an archive or a stream.
//
// Ids outside Options.Range are counted in Report.Outside and otherwise ignored. Ids from
// before 2009, ids from the future and bounds for queries are not plausible: a census
// reports them as findings, and infers nothing from them.
//
// # What is promised
//
// A census counts every id; it does not estimate from a sample. It needs at most 24 bytes
// of memory for each id plus a few hundred megabytes, whatever the size of the documents.
// Ids beyond Options.Memory go to a temporary file, which does not change the results. No
// input makes a census crash or run for ever. Unreadable documents are skipped and
// reported with their positions.
//
// # What is not promised
//
// An id contains a process value and a creation time by the clock of its process. A census
// infers everything else from the counters of each process value:
//
//   - Gaps are counter values that are not found in the data. The process used them for
//     another collection or for documents that were deleted later, or it did not use them.
//     If a process creates 2^24 ids or more elsewhere between two ids in the data, its
//     counter wraps around, and full rounds are not counted. Counter values between the
//     last id of one run and the first id of the next run are not gaps.
//   - A clock step backwards is recognized by counters that continue while the time
//     decreases. Steps of a few seconds and steps in a period without ids are not
//     recognized. Steps forwards are never recognized.
//   - A shared process value is recognized by sequences of counters that alternate. About
//     twenty ids from each process are enough. If runs with the same process value follow
//     one another, they count as restarts.
//   - A process resumes a saved state if, for example, a snapshot of its machine is
//     restored. It is recognized because its runs begin at counters that were used before.
//     If there is only one such run in 1,000 ids or more, it may be a restart.
//   - Threads that reserve counters in blocks look like clock steps and shared values. If
//     such threads explain the ids, a census reports no finding.
//   - Chance causes a wrong finding about single processes in one of 16,384 censuses.
//     Chance causes weaker evidence in one of 64 process values. A census reports weaker
//     evidence as a doubt, in Report.Doubts.
//   - A process may create most of its ids elsewhere, so that its counter typically
//     increases by more than 16,384 from one id in the data to the next. That is a doubt,
//     too. All other breaks count as restarts.
//
// # Design
//
// Each id becomes a record of 16 bytes in a list for its process value. When memory is
// full, the lists are sorted and written to disk (internal/idset). They are read back for a
// few process values at a time.
//
// Dumps are mostly in order of time, so these lists are nearly sorted, and one pass over
// each list follows the counter (process.go). A process value with breaks is divided into
// lines, the stretches in which its counter continues (lines.go). Lines whose counters
// overlap or adjoin form a cluster (cluster.go), whose ids are examined in the order of
// their counters (sequence.go). Then judge.go compares two explanations: a fault, or the
// life of a healthy process. It adds up the evidence of all breaks (suspects.go). Every
// threshold is in thresholds.go.
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
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/unpack"
	"github.com/oidkit/oid/objectid"
)

// Options configure a [Census]. A nil pointer and the zero Options mean the defaults.
type Options struct {
	// Field is the field whose values are read. A dot separates a nested field from its
	// parent, as in "customer.id". If a field on the path is an array, the census reads
	// all its elements. If it is a string that contains JSON, the census reads the value in
	// it. A * in the path means all members of an object, or all elements of an array. A *~ at
	// the end means the keys of an object, as in "orders.*~". Default: "_id".
	Field string

	// Format is the format of the sources. Default: [FormatAuto].
	Format Format

	// Column is the name of the column that is read from CSV. If its cells contain JSON, the
	// path of the field follows, as in "after._id". Default: the value of Field.
	Column string

	// Collection limits a [FormatArchive] to one collection: "orders" or "shop.orders".
	// Default: all collections.
	Collection string

	// Workers is the number of goroutines that parse and sort. Default: one for each
	// core.
	Workers int

	// Unpacked, if not nil, is called each time a piece of compressed data was decompressed,
	// with the number of decompressed bytes. If it returns an error, Read ends with that
	// error.
	Unpacked func(bytes int) error

	// MaxWindow limits the memory of a zstd decoder, in bytes. Default: 128 MiB, which is
	// enough for files that "zstd --long" wrote.
	MaxWindow uint64

	// Range selects the ids to analyse. Report.Outside is the number of all other ids.
	// Default: all ids.
	Range objectid.Range

	// Now is the reference time. Ids created more than five minutes after it count as
	// ids from the future. Default: the time at which New is called.
	Now time.Time

	// MaxIDs, if greater than 0, limits the number of ids of all sources together. Beyond
	// the limit, [Census.Read] returns an error that wraps [ErrLimit]. Default: no limit.
	MaxIDs int64

	// Keep, if not nil, is called with the number of ids that the census is about to
	// store, at 16 bytes each. If it returns an error, Read ends with that error.
	Keep func(ids int) error

	// Memory limits the memory of the census, approximately, in bytes. Ids that do not
	// fit go to a temporary file in os.TempDir. Limits below 100 MB may be exceeded.
	// Default: [MemoryLimit].
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

// reading returns the options for reading a source.
func (o *Options) reading() source.Options {
	return source.Options{
		Options: unpack.Options{Unpacked: o.Unpacked, MaxWindow: o.MaxWindow},
		Field:   o.Field, Format: string(o.Format), Column: o.Column, Collection: o.Collection, Workers: o.Workers,
	}
}

// ErrTooMany is wrapped by the error of [Census.Read] if the sources of a census together
// have more than 2^32 - 1 documents or lines. Positions are 32-bit numbers.
var ErrTooMany = errors.New("census: more than 4294967295 documents or lines")

// ErrLimit is wrapped by the error of [Census.Read] if the sources of a census together have
// more ids than Options.MaxIDs.
var ErrLimit = errors.New("census: too many ids")

// Census collects the ids of one or more sources for a [Report]. Each id takes 16 to 24
// bytes in memory or, beyond Options.Memory, on disk. Call Close after use. A Census is
// not safe for concurrent use.
type Census struct {
	options Options

	collections []*collection
	sources     []*Source
	places      uint32 // documents, lines and rows of all sources so far
	taken       int64  // ids inside the range
	spans       []placeSpan
	partial     string // see Report.Partial

	space idset.Space
}

// placeSpan is a stretch of consecutive places that belong to one source. The place of an
// id is the number of its document, line or row, counted through all sources from 0.
type placeSpan struct {
	place  uint32 // the first one
	source *Source
	number int64 // of the document at the first place, counted from 0 within the source
}

// New returns an empty census. If o is nil, the defaults hold.
func New(o *Options) *Census {
	c := &Census{options: o.withDefaults()}
	c.space = idset.Space{Room: inMemory(c.options.Memory), Workers: c.options.Workers}
	return c
}

// Units returns the number of documents, lines and rows that have been read.
func (c *Census) Units() int64 { return int64(c.places) }

// EndEarly marks the census as incomplete, for the reason that the text why gives. Later
// reports have this text in Report.Partial.
func (c *Census) EndEarly(why string) { c.partial = why }

// Read adds all ids of a source. It reads the source from the reader in; name identifies the
// source in errors and reports.
//
// If reading stops before the end of the source, Read returns an error with the reason and
// the position. Ids that were read before still count, and [Source].Error in the report
// repeats the error. If the source has 0 bytes, the error wraps [ErrEmpty]. If its format is
// not recognized, the error wraps [ErrFormat]. If a limit is exceeded, it wraps [ErrTooMany]
// or [ErrLimit]. If the reader fails, it wraps the error of the reader. If ctx is done, it
// wraps the cause of ctx.
//
// If a document or line is unreadable but reading can continue after it, that is not an
// error; [Source].Broken counts it.
//
// If the source is a container, such as a tar or a zip, each file in it becomes a [Source] with a
// collection of its own, which is named as in a folder: shop.orders if mongodump wrote the file
// shop/orders.bson, else after the path of the file without its endings. With [FormatGrep] all
// files belong to the collection of the source. Files and folders whose names begin with a dot
// are skipped, and so are the files that mongodump writes beside the documents, such as
// orders.metadata.json. If a file cannot be read, the others still are, and Read returns the
// first error.
//
// If the reader blocks when ctx is done, Read returns and leaves a goroutine waiting for the
// reader.
func (c *Census) Read(ctx context.Context, name string, in io.Reader) error {
	return c.ReadCollection(ctx, name, "", in)
}

// ReadCollection does the same as [Census.Read] and names the collection of the ids. Each
// collection gets its own analysis and report. All sources read without the name of a
// collection are analysed as one collection.
func (c *Census) ReadCollection(ctx context.Context, name, collection string, in io.Reader) error {
	o := c.options.reading()
	o.Name = name
	return c.read(ctx, &Source{Name: name, Collection: collection, Format: FormatAuto}, o, in)
}

// Live is a collection or a table that a database returns, see [Census.ReadLive].
type Live struct {
	Name       string // identifies the source in errors and reports
	Collection string // see [Census.ReadCollection]

	// IsTable is set if the source is one column of a table. Each document is then a row:
	// its _id is the value of the column, whatever Options.Field is, or it has no _id.
	IsTable bool
	// Repeats is set if the same value may be in several rows, as in a foreign key.
	Repeats bool
}

// ReadLive does the same as [Census.ReadCollection] for BSON documents from a database. An
// input of 0 bytes is an empty collection, not an error.
func (c *Census) ReadLive(ctx context.Context, from Live, in io.Reader) error {
	o := c.options.reading()
	o.Format, o.Name = source.BSON, "."+source.BSON
	src := &Source{Name: from.Name, Collection: from.Collection, Format: FormatBSON, repeats: from.Repeats}
	if from.IsTable {
		o.Field, src.Format, src.Unit = "_id", FormatTable, "row"
	}
	return c.read(ctx, src, o, in)
}

// read reads in, whose name and collection are those of src.
func (c *Census) read(ctx context.Context, src *Source, o source.Options, in io.Reader) error {
	r := &reading{Census: c, whole: src, format: o.WithDefaults().Format}
	stop := source.Walk(in, o, func(file string, input *source.Input, err error) error { return r.file(ctx, file, input, err) })
	return cmp.Or(stop, r.failed)
}

// take adds a batch of src to the census.
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
	src.Units += int64(b.Documents - b.Headings)
	src.Without += b.Without
	src.Broken += b.Broken
	for _, p := range b.Problems {
		if len(src.Problems) < maxProblems {
			src.Problems = append(src.Problems, Problem{c.position(base + p.Place), phrase.Plain(p.Err.Error())})
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
	src.looked, src.first = src.looked+int64(b.Looked), cmp.Or(src.first, b.First)
	for path, f := range b.Places {
		src.places[path] = source.Found{Values: src.places[path].Values + f.Values, InText: f.InText}
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

// keep counts n more ids. It returns an error if that exceeds a limit.
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
	src.others, src.samples, src.parts, src.places = map[string]int64{}, map[string][]Value{}, map[string]*Source{}, map[string]source.Found{}
	src.collection = c.collection(src.Collection)
	src.collection.sources = append(src.collection.sources, src)
	c.sources = append(c.sources, src)
	return src
}

// part returns the source for one collection of the archive src.
func (c *Census) part(src *Source, name string) *Source {
	p := src.parts[name]
	if p == nil {
		p = c.addSource(&Source{Name: src.Name, Collection: name, Format: src.Format, Unit: src.Unit})
		src.parts[name] = p
		src.Collections++
	}
	return p
}

// position converts a place to a position in a source.
func (c *Census) position(place uint32) Position {
	i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].place > place }) - 1
	sp := c.spans[i]
	return Position{sp.source.Name, sp.source.Collection, sp.source.Unit, sp.number + int64(place-sp.place) + 1}
}

// latestSecond returns the last second that does not count as the future.
func latestSecond(now time.Time) uint32 {
	return uint32(min(max(now.Add(era.Tolerance).Unix(), int64(earliest)), math.MaxUint32))
}
