// Package unpack reads files as people have them: compressed, in containers such as tar and
// zip, or both. It recognizes them by their content and never by their names.
//
// [Walk] reads a file to its end, with all files in it. [Text] is for programs that read a
// stream of text. Data in a format that cannot be read, such as Parquet, is refused with an
// error that has the command which turns it into text.
//
// # Bounds
//
// Hostile files are small and expand to terabytes, or contain themselves. So layers are
// counted, and so are the bytes of each layer: what a file expands to, in all its members
// together, is at most [Options].FreeExpansion or 500 times the size of the file. Decoders
// together have windows of little more than MaxWindow.
package unpack

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
)

var (
	// ErrFormat is wrapped by the error for data in a format that cannot be read.
	ErrFormat = errors.New("unpack: unknown format")

	// ErrEmpty is wrapped by the error for 0 bytes.
	ErrEmpty = errors.New("unpack: the source is empty")
)

const (
	// prefixSize is the size of Content.Head.
	prefixSize = 64 << 10

	// maxNested is the most compressions and containers around a file: a .tar.gz in a zip
	// with .gz files in it has four.
	maxNested = 4

	// maxExpansion limits the size of unpacked data beyond freeExpansion, the default
	// of Options.FreeExpansion: to that many times the size of the file. Dumps expand to 3
	// to 100 times their size. Files that attackers make expand to 1,000 times and more.
	maxExpansion  = 500
	freeExpansion = 256 << 20

	// maxWindow is the default of Options.MaxWindow, the window that "zstd --long" uses.
	// Decoders whose data is in that of another one have an innerWindow-th of it.
	maxWindow   = 128 << 20
	innerWindow = 8
)

// Options configure how a file is unpacked. The zero Options mean the defaults.
type Options struct {
	// Name is the name of the file, and Then the command that reads text in its place, such
	// as "oid census". Both are for the commands in error messages.
	Name, Then string

	// Unpacked, if not nil, is called with the number of bytes each time some were
	// decompressed. If it returns an error, reading ends with that error.
	Unpacked func(bytes int) error

	MaxWindow     uint64 // of a decoder, in bytes; default: 128 MiB
	FreeExpansion int64  // in bytes, see the package; default: 256 MiB
}

// unpacking is the state of one call of Walk or Text.
type unpacking struct {
	Options
	in      io.Reader
	peek    int                         // how many bytes of each layer are waited for
	sizes   [maxNested + 1]atomic.Int64 // bytes read so far, by layer; decoders read in goroutines
	members int                         // of all containers
	limit   atomic.Pointer[error]       // the first error about a bound, which ends all reading
}

func newUnpacking(in io.Reader, o Options, peek int) *unpacking {
	o.MaxWindow, o.FreeExpansion = cmp.Or(o.MaxWindow, maxWindow), cmp.Or(o.FreeExpansion, freeExpansion)
	return &unpacking{Options: o, peek: peek, in: in}
}

// file returns the bytes of the file.
func (u *unpacking) file() *layer { return &layer{Reader: u.in, unpacking: u} }

// layer is the content of the file, at depth 0, of compressed data or of a member of a
// container.
type layer struct {
	io.Reader
	*unpacking
	name     string
	depth    int
	unpacked func(bytes int) error // or nil

	mu     sync.Mutex
	closed bool
}

func (l *layer) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, fs.ErrClosed
	}
	n, err := l.Reader.Read(p)
	size := l.sizes[l.depth].Add(int64(n))
	var stop error
	if l.unpacked != nil {
		stop = l.unpacked(n)
	}
	if size > l.FreeExpansion && size/maxExpansion > l.sizes[0].Load() {
		stop = fmt.Errorf("unpack: %s: the data expands to more than %d times its size; if you trust it, unpack it first", l.name, maxExpansion)
	}
	switch {
	case stop != nil:
		l.limit.CompareAndSwap(nil, &stop)
		return n, stop
	case err == nil, err == io.EOF, l.depth == 0:
		return n, err
	}
	return n, failed(l.name, err)
}

// failed returns err with the name of the format.
func failed(name string, err error) error {
	switch {
	case err == io.ErrUnexpectedEOF:
		return fmt.Errorf("unpack: %s: the data ends early", name)
	case errors.Is(err, xz.ErrMemlimit), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("unpack: %s: decompressing takes more memory than is allowed; decompress it first", name)
	case strings.Contains(err.Error(), name):
		return fmt.Errorf("unpack: %w", err)
	}
	return fmt.Errorf("unpack: %s: %w", name, err)
}

// Close waits for Read to return. Later calls of Read fail.
func (l *layer) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// Content is the unpacked content of a file.
type Content struct {
	*bufio.Reader
	Head []byte // the first 64 KiB, or all before an error or the end

	depth  int    // the number of layers
	window uint64 // how much memory another decoder may use
	opened []io.Closer
}

// Close closes the decoders. Read has returned all errors.
func (c *Content) Close() {
	for i := len(c.opened) - 1; i >= 0; i-- {
		_ = c.opened[i].Close()
	}
}

// open undoes the compressions of in, a member of the container outer or the file itself, and
// reads the head of the content. The caller must close the content, even after an error. If the
// error is [ErrEmpty], the content can still be read.
func (u *unpacking) open(in io.Reader, outer *Content) (*Content, error) {
	c := &Content{window: u.MaxWindow}
	if outer != nil {
		c.depth, c.window = outer.depth+1, outer.window
	}
	for {
		c.Reader = bufio.NewReaderSize(in, prefixSize)
		_, err := c.Peek(u.peek)
		head, _ := c.Peek(c.Buffered())
		c.Head = bytes.Clone(head) // another goroutine may read on
		if len(c.Head) == 0 {
			if err == io.EOF {
				err = ErrEmpty
			}
			return c, err
		}
		format := compressionOf(c.Head)
		if format == nil {
			return c, nil
		}
		if c.depth == maxNested {
			return c, errNested
		}
		c.depth++
		opened, err := format.open(c.Reader, c.window)
		if errors.Is(err, gzip.ErrHeader) {
			return c, u.refusal(binary{name: notGzip})
		}
		if err != nil {
			return c, fmt.Errorf("stopped at byte 0: %w", failed(format.name, err))
		}
		if closer, ok := opened.(io.Closer); ok {
			c.opened = append(c.opened, closer)
		}
		in = &layer{Reader: opened, unpacking: u, name: format.name, depth: c.depth, unpacked: u.Unpacked}
		if format.hasWindow {
			c.window /= innerWindow
		}
	}
}

var errNested = fmt.Errorf("%w: more than %d compressions and containers around it", ErrFormat, maxNested)

// Walk calls use with the content of in. If in is a container, Walk calls use with the
// content of each file in it, and path is the path of that file in in. If some of it cannot be
// read, use gets the error instead of the content. use must close the content. If use returns
// an error, Walk returns that error at once.
func Walk(in io.Reader, o Options, use func(path string, c *Content, err error) error) error {
	u := newUnpacking(in, o, prefixSize)
	return u.walk(u.file(), "", nil, use)
}

// walk is Walk for in, which has the given path in the file, in the container outer.
func (u *unpacking) walk(in io.Reader, path string, outer *Content, use func(path string, c *Content, err error) error) error {
	c, err := u.open(in, outer)
	kind := containerOf(c.Head)
	if err == nil && kind != nil && c.depth == maxNested {
		err = errNested
	}
	if err != nil || kind == nil {
		if err != nil && err != ErrEmpty {
			c.Close()
			c = nil
		}
		return use(path, c, err)
	}
	defer c.Close()
	m := &members{unpacking: u, content: c, kind: kind, path: path, use: use, seen: map[string]bool{}}
	err = kind.walk(m)
	if m.stop == nil && (err != nil || len(m.seen) == 0) {
		m.stop = use(path, nil, cmp.Or(err, fmt.Errorf("unpack: the %s has no files to read", kind.name)))
	}
	return m.stop
}

// Text returns the content of in, decompressed. It is for a stream of text: it reads nothing
// before the first call of Read, and then no more than there is. If in is not text, Read
// returns an error that wraps [ErrFormat].
func Text(in io.Reader, o Options) io.Reader { return &text{unpacking: newUnpacking(in, o, 1)} }

type text struct {
	*unpacking
	content *Content
	err     error
}

func (t *text) Read(p []byte) (n int, err error) {
	if t.content == nil {
		switch t.content, t.err = t.open(t.file(), nil); t.err {
		case nil:
			t.err = t.Refuse(t.content.Head)
		case ErrEmpty:
			t.err = io.EOF
		}
	}
	if t.err == nil {
		n, t.err = t.content.Read(p)
	}
	if t.err != nil {
		t.content.Close()
	}
	return n, t.err
}
