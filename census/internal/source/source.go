// Package source reads the values of one field from dumps, exports and lists, for package
// census.
//
// [Open] detects the format of a source, and [Input.Read] returns its ids in batches. In a
// batch, the place of a value is the number of its document, line or row, counted from 0 at
// the start of the batch. The readers look for ids and do not validate documents: if the id
// is the first field of a JSON or BSON document, they skip everything up to the document's
// end.
//
// # Design
//
// Lists, BSON, text and JSON with one document per line are read in blocks, and several
// goroutines parse the blocks. Archives, CSV and other JSON are parsed by one goroutine while
// another one reads ahead.
package source

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Options configure how a source is read. The zero Options mean the defaults.
type Options struct {
	// Name is the name of the source. A file of 0 bytes counts as an empty collection if
	// its name ends as the names of BSON and JSON files do, such as ".bson".
	Name string

	// The fields up to MaxWindow have the meaning that they have in census.Options.

	Field      string                // default: "_id"
	Format     string                // default: [Auto]
	Column     string                // default: the same as Field
	Collection string                // default: all collections
	Workers    int                   // default: one for each core
	Unpacked   func(bytes int) error // may be nil
	MaxWindow  uint64                // in bytes; default: 128 MiB

	// FreeExpansion is how many bytes compressed data may always expand to. Larger data may
	// expand to 500 times its compressed size. Default: 256 MiB.
	FreeExpansion int64
}

// WithDefaults returns o with defaults for all fields that are zero.
func (o Options) WithDefaults() Options {
	o.Field, o.Format = cmp.Or(o.Field, "_id"), cmp.Or(o.Format, Auto)
	o.Column = cmp.Or(o.Column, o.Field)
	o.MaxWindow, o.FreeExpansion = cmp.Or(o.MaxWindow, maxWindow), cmp.Or(o.FreeExpansion, freeExpansion)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}

// Input is an open source. It can be read once.
type Input struct {
	// Format is the format of the source, as given in the options or as detected. Unit is
	// what places count: "document", "line" or "row".
	Format string
	Unit   string

	options  Options
	path     []string // Options.Field, split at its dots
	elements bool     // if the value is an array, its elements count
	text     *content
	batches  sync.Pool
	reader   reader
	comma    rune // separates the columns of CSV
}

// Open reads the beginning of in and detects its format. The error wraps [ErrEmpty],
// [ErrFormat] or the error of in. It wraps [ErrFormat], too, if o.Format is not one of
// [Formats].
func Open(in io.Reader, o Options) (*Input, error) {
	o = o.WithDefaults()
	if !slices.Contains(Formats(), o.Format) {
		return nil, fmt.Errorf("%w: %q", ErrFormat, o.Format)
	}
	text, err := newContent(in, &o)
	format, err := o.formatOf(text, err)
	isBinary := format == BSON || format == Archive // there, these bytes may be the length of a document
	if err == nil && strings.HasPrefix(string(text.head), utf8Mark) && format != Grep && !isBinary {
		_, err = text.Discard(len(utf8Mark))
		text.head = text.head[len(utf8Mark):]
	}
	if err != nil {
		text.close()
		return nil, err
	}
	s := &Input{
		Format: format, options: o, path: strings.Split(o.Field, "."), elements: o.Field != "_id", text: text,
		reader: readers[slices.Index(Formats(), format)],
	}
	if format == JSON && oneToALine(text.head) {
		s.reader = jsonLineReader
	}
	s.Unit = s.reader.unit
	if format == CSV {
		s.comma, _ = findColumn(text.head, o.Column)
	}
	s.batches.New = func() any { return &Batch{ready: make(chan struct{}, 1)} }
	return s, nil
}

// formatOf returns the format of text. err is the error of newContent.
func (o *Options) formatOf(text *content, err error) (string, error) {
	if err == ErrEmpty {
		if o.Format == Grep {
			return Grep, nil // a text without ids
		}
		if named := formatByName(o.Name); named != "" && (o.Format == Auto || o.Format == named) {
			return named, nil
		}
	}
	if err == nil && o.Format == Auto {
		return detect(text.head, o.Column)
	}
	if err == nil && o.Format == Grep && isUTF16(text.head) {
		return Grep, errUTF16 // no id would be found
	}
	return o.Format, err
}

// Read reads s to its end. It calls prepare and then take with each batch. Several calls of
// prepare may run at the same time; take is called in the order of the source, one batch at
// a time. Neither function may keep the batch after it returns.
//
// If reading stops early, the error is that of take, the cause of ctx, or another error with
// the position at which reading stopped. If the reader hangs when ctx is done, Read leaves a
// goroutine that waits for it.
func (s *Input) Read(ctx context.Context, prepare func(*Batch), take func(*Batch) error) error {
	if s.reader.parse != nil {
		defer s.text.close()
		return (&blocks{Input: s, prepare: prepare}).read(ctx, take)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in := readAhead(ctx, s.text)
	emit := func(b *Batch) error {
		prepare(b)
		err := take(b)
		b.reset()
		s.batches.Put(b)
		return err
	}
	return s.reader.read(s, in, emit)
}

// streamBlock is how many bytes readAhead reads while the bytes before them are parsed.
const streamBlock = 1 << 20

// readAhead returns the content of in. A goroutine reads and decompresses it one block ahead.
// It closes in at the end or, unless in hangs, when ctx is done. The error is that of in or the
// cause of ctx.
func readAhead(ctx context.Context, in *content) io.Reader {
	out, pipe := io.Pipe()
	stop := context.AfterFunc(ctx, func() { pipe.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer in.close()
		defer stop()
		w := bufio.NewWriterSize(pipe, streamBlock)
		_, err := w.ReadFrom(in)
		pipe.CloseWithError(cmp.Or(err, w.Flush()))
	}()
	return bufio.NewReaderSize(out, streamBlock)
}

// stopped adds to err the position at which reading stopped, in bytes.
func stopped(offset int64, err error) error {
	return fmt.Errorf("stopped at byte %d: %w", offset, err)
}
