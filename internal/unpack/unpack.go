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
// have windows of at most MaxWindow.
package unpack

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
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
	maxWindow = 128 << 20
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
	peek    int // how many bytes of each layer are waited for
	packed  counted
	sizes   [maxNested + 1]int64 // bytes unpacked so far, by layer
	members int                  // of all containers
}

func newUnpacking(in io.Reader, o Options, peek int) *unpacking {
	o.MaxWindow, o.FreeExpansion = cmp.Or(o.MaxWindow, maxWindow), cmp.Or(o.FreeExpansion, freeExpansion)
	return &unpacking{Options: o, peek: peek, packed: counted{Reader: in}}
}

// counted counts the bytes read from a reader. The count is atomic because decoders read in
// goroutines of their own.
type counted struct {
	io.Reader
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// layer is the content of compressed data or of a member of a container.
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
	size := &l.sizes[l.depth]
	*size += int64(n)
	if l.unpacked != nil {
		if stop := l.unpacked(n); stop != nil {
			return n, stop
		}
	}
	switch {
	case err == io.ErrUnexpectedEOF:
		err = fmt.Errorf("unpack: %s: the data ends early", l.name)
	case err != nil && err != io.EOF:
		err = fmt.Errorf("unpack: %s: %w", l.name, err)
	case *size > l.FreeExpansion && *size/maxExpansion > l.packed.n.Load():
		err = fmt.Errorf("unpack: %s: the data expands to more than %d times its size; if you trust it, unpack it first", l.name, maxExpansion)
	}
	return n, err
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

	depth  int // the number of layers
	opened []io.Closer
}

// Close closes the decoders. Read has returned all errors.
func (c *Content) Close() {
	for i := len(c.opened) - 1; i >= 0; i-- {
		_ = c.opened[i].Close()
	}
}

// open undoes the compressions of in, which is in depth layers, and reads the head of the
// content. The caller must close the content, even after an error. If the error is [ErrEmpty],
// the content can still be read.
func (u *unpacking) open(in io.Reader, depth int) (*Content, error) {
	c := &Content{depth: depth}
	for {
		c.Reader = bufio.NewReaderSize(in, prefixSize)
		_, err := c.Peek(u.peek)
		c.Head, _ = c.Peek(c.Buffered())
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
		opened, err := format.open(c.Reader, u.MaxWindow)
		if err != nil {
			return c, fmt.Errorf("stopped at byte 0: unpack: %s: %w", format.name, err)
		}
		l := &layer{Reader: opened, unpacking: u, name: format.name, depth: c.depth, unpacked: u.Unpacked}
		c.opened = append(c.opened, opened)
		in = l
	}
}

var errNested = fmt.Errorf("%w: more than %d compressions and containers around it", ErrFormat, maxNested)

// Walk calls use with the content of in. If in is a container, Walk calls use with the
// content of each file in it, and path is the path of that file in in. If some of it cannot be
// read, use gets the error instead of the content. use must close the content. If use returns
// an error, Walk returns that error at once.
func Walk(in io.Reader, o Options, use func(path string, c *Content, err error) error) error {
	u := newUnpacking(in, o, prefixSize)
	return u.walk(&u.packed, "", 0, use)
}

// walk is Walk for in, which is in depth layers and has the given path in the file.
func (u *unpacking) walk(in io.Reader, path string, depth int, use func(path string, c *Content, err error) error) error {
	c, err := u.open(in, depth)
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
	if m.stop == nil && (err != nil || m.read == 0) {
		m.stop = use(path, nil, cmp.Or(err, fmt.Errorf("unpack: the %s has no files to read", kind.name)))
	}
	return m.stop
}

// Text returns the content of in, decompressed. It is for a stream of text: it reads nothing
// before the first call of Read, and then no more than there is. If in is not text, Read
// returns an error that wraps [ErrFormat].
func Text(in io.Reader, o Options) io.ReadCloser { return &text{unpacking: newUnpacking(in, o, 1)} }

type text struct {
	*unpacking
	content *Content
	err     error
}

func (t *text) Read(p []byte) (int, error) {
	if t.content == nil {
		t.content, t.err = t.open(&t.packed, 0)
		if t.err == nil {
			t.err = t.Refuse(t.content.Head, t.Name)
		}
	}
	switch {
	case t.err == ErrEmpty:
		return 0, io.EOF
	case t.err != nil:
		return 0, t.err
	}
	return t.content.Read(p)
}

func (t *text) Close() error {
	if t.content != nil {
		t.content.Close()
	}
	return nil
}
