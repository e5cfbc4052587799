// Package source reads the values of one field from dumps, exports and lists, for
// package census.
//
// [Open] detects how a source is written, and [Input.Read] returns its ids in
// batches. The readers look for ids and do not validate documents: where the id is
// the first field of a JSON or BSON document, the rest is skipped, except its end.
//
// # Design
//
// A source is read in blocks. Blocks of lines and of BSON documents are parsed by several
// goroutines at once; archives, CSV and JSON that is not one document to a line by one,
// while another reads ahead.
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

// Options define what is read. The zero Options are ready to use.
type Options struct {
	// Name is the name of the source. A file without a single byte is an empty
	// collection if its name says that it is of BSON or JSON.
	Name string

	// Field is the field that is read from documents, with dots for one inside
	// another. Of an array on its path, every element counts.
	// Default: "_id".
	Field string

	// Format is how the source is written. Default: [Auto].
	Format string

	// Column is the column that is read from CSV. Default: Field.
	Column string

	// Collection is the only collection to read from an [Archive], with or
	// without the database's name before it. Default: all.
	Collection string

	// Workers is how many goroutines may work at once. Default: one for each
	// core.
	Workers int

	// Unpacked, if it is set, is called with the number of bytes that were just
	// decompressed. Its error ends the reading.
	Unpacked func(bytes int) error

	// MaxWindow is how much memory decompression may take, in bytes. Default:
	// 128 MiB, what "zstd --long" needs.
	MaxWindow uint64

	// FreeExpansion is how many bytes compressed data may expand to, whatever its size.
	// Beyond that, it may expand to 500 times its size. Default: 256 MiB.
	FreeExpansion int64
}

// WithDefaults returns o with every default in its place.
func (o Options) WithDefaults() Options {
	o.Field, o.Format = cmp.Or(o.Field, "_id"), cmp.Or(o.Format, Auto)
	o.Column = cmp.Or(o.Column, o.Field)
	o.MaxWindow, o.FreeExpansion = cmp.Or(o.MaxWindow, maxWindow), cmp.Or(o.FreeExpansion, freeExpansion)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}

// Input is one source.
type Input struct {
	// Format is how the source is written, and Unit is what places count:
	// document, line or row.
	Format string
	Unit   string

	options  Options
	path     []string // Options.Field
	elements bool     // an array's elements are values, too
	text     *content
	batches  sync.Pool
	reader   reader
	comma    rune // of CSV: what separates columns
}

// Open begins to read in and detects its format. The error wraps [ErrEmpty],
// [ErrFormat] or in's error; an o.Format that is not among [Formats] is an [ErrFormat].
func Open(in io.Reader, o Options) (*Input, error) {
	o = o.WithDefaults()
	if !slices.Contains(Formats(), o.Format) {
		return nil, fmt.Errorf("%w: %q", ErrFormat, o.Format)
	}
	text, err := newContent(in, &o)
	format, err := o.formatOf(text, err)
	isBinary := format == BSON || format == Archive // the length of a document may look like a mark
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

// formatOf returns the format of text. err is the error of opening it.
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

// Read calls prepare and then take with every batch of s: prepare in several goroutines
// at once, take in the order of the source, one at a time. Neither must keep the batch.
// The error says where reading stopped and why. It is take's error, the reader's, or
// ctx's cause.
//
// Read may leave a goroutine behind that waits for the reader, if that hangs.
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

// streamBlock is how many bytes of a stream are read while those before are parsed.
const streamBlock = 1 << 20

// readAhead returns the content of in, which another goroutine reads and decompresses one
// block ahead, and closes at its end or once ctx is done, unless a read hangs. The error is
// in's, or ctx's cause.
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

// stopped returns an error with the position at which reading stopped, and why.
func stopped(offset int64, err error) error {
	return fmt.Errorf("stopped at byte %d: %w", offset, err)
}
