// Package source reads the values of one field from dumps, exports and lists, for package
// census.
//
// [Walk] detects the format of a source, and [Input.Read] returns its ids in batches. In a
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
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/oidkit/oid/internal/unpack"
)

// Options configure how a source is read. The zero Options mean the defaults.
type Options struct {
	// Options have the name of the source. A file of 0 bytes counts as an empty collection if
	// its name ends as the names of BSON and JSON files do, such as ".bson".
	unpack.Options

	// The fields up to Workers have the meaning that they have in census.Options.

	Field      string // default: "_id"
	Format     string // default: [Auto]
	Column     string // default: the same as Field
	Collection string // default: all collections
	Workers    int    // default: one for each core

	// Documents means that documents of JSON and BSON are copied to Batch.Docs, and not searched
	// for ids.
	Documents bool
}

// WithDefaults returns o with defaults for all fields that are zero.
func (o Options) WithDefaults() Options {
	o.Field, o.Format = cmp.Or(o.Field, "_id"), cmp.Or(o.Format, Auto)
	o.Column = cmp.Or(o.Column, o.Field)
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
	text     *unpack.Content
	batches  sync.Pool
	reader   reader
	comma    rune // separates the columns of CSV
}

// Walk calls use with the input of in. If in is a container, Walk calls use with the input of
// each file in it, and file is the path of that file in in. Walk returns the error of use at
// once. If in or a file cannot be read, use gets the error instead of an input. That error
// wraps [ErrEmpty], [ErrFormat] or the error of in. It wraps [ErrFormat], too, if o.Format is
// not one of [Formats].
func Walk(in io.Reader, o Options, use func(file string, s *Input, err error) error) error {
	o = o.WithDefaults()
	if !slices.Contains(Formats(), o.Format) {
		return use("", nil, fmt.Errorf("%w: %q", ErrFormat, o.Format))
	}
	o.Then = "oid census"
	if o.Format == Grep {
		o.Then += " --grep"
	}
	return unpack.Walk(in, o.Options, func(file string, text *unpack.Content, err error) error {
		o.Name = cmp.Or(file, o.Name)
		switch {
		case text == nil:
			return use(file, nil, err)
		case file != "" && (o.Format == Auto || o.Format == BSON) && unpack.BesideDump(file):
			text.Close()
			return nil
		}
		s, err := o.open(text, err)
		return use(file, s, err)
	})
}

// open detects the format of text. err is ErrEmpty or nil.
func (o Options) open(text *unpack.Content, err error) (*Input, error) {
	format, err := o.formatOf(text, err)
	isBinary := format == BSON || format == Archive // there, these bytes may be the length of a document
	if err == nil && strings.HasPrefix(string(text.Head), utf8Mark) && format != Grep && !isBinary {
		_, err = text.Discard(len(utf8Mark))
		text.Head = text.Head[len(utf8Mark):]
	}
	if err != nil {
		text.Close()
		return nil, err
	}
	s := &Input{
		Format: format, options: o, path: strings.Split(o.Field, "."), elements: o.Field != "_id", text: text,
		reader: readers[slices.Index(Formats(), format)],
	}
	if format == JSON && oneToALine(text.Head) {
		s.reader = jsonLineReader
	}
	s.Unit = s.reader.unit
	if format == CSV {
		s.comma, _ = findColumn(text.Head, o.Column)
	}
	s.batches.New = func() any { return &Batch{ready: make(chan struct{}, 1)} }
	return s, nil
}

// formatOf returns the format of text. err is ErrEmpty or nil.
func (o *Options) formatOf(text *unpack.Content, err error) (string, error) {
	if err == ErrEmpty {
		if o.Format == Grep {
			return Grep, nil // a text without ids
		}
		if named := formatByName(o.Name); named != "" && (o.Format == Auto || o.Format == named) {
			return named, nil
		}
	}
	switch {
	case err != nil || o.Format == BSON || o.Format == Archive:
		return o.Format, err
	case o.Format == Auto:
		return o.detect(text.Head)
	case looksLikeBSON(text.Head), bytes.HasPrefix(text.Head, []byte(archiveMagic)):
		o.Then = "oid census"
		return o.Format, cmp.Or(o.Known(text.Head, true), fmt.Errorf("%w: this is BSON, not text; leave out --grep and --format", ErrFormat))
	}
	return o.Format, o.Refuse(text.Head)
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
		defer s.text.Close()
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
func readAhead(ctx context.Context, in *unpack.Content) io.Reader {
	out, pipe := io.Pipe()
	stop := context.AfterFunc(ctx, func() { pipe.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer in.Close()
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
