package source

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compression is a format of compressed data. magic is the first bytes of such data.
type compression struct {
	name, ending, magic string
	open                func(in io.Reader, window uint64) (io.ReadCloser, error)
}

// maxWindow is the default of Options.MaxWindow, the window that "zstd --long" uses.
const maxWindow = 128 << 20

var compressions = []compression{
	{"gzip", ".gz", "\x1f\x8b", func(in io.Reader, _ uint64) (io.ReadCloser, error) { return gzip.NewReader(in) }},
	{"zstd", ".zst", "\x28\xb5\x2f\xfd", func(in io.Reader, window uint64) (io.ReadCloser, error) {
		d, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(window), zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
}

const (
	// maxNested is the most compressions around one source.
	maxNested = 3

	// maxExpansion limits the size of decompressed data beyond freeExpansion, the default
	// of Options.FreeExpansion: to that many times the compressed size. Dumps expand to 3
	// to 100 times their size. Files that attackers make expand to 1,000 times and more.
	maxExpansion  = 500
	freeExpansion = 256 << 20
)

// decompressed is the content of compressed data.
type decompressed struct {
	io.ReadCloser
	name     string
	packed   *counted              // counts the compressed bytes of the source
	size     int64                 // bytes decompressed so far
	free     int64                 // see Options.FreeExpansion
	unpacked func(bytes int) error // see Options
}

func (d *decompressed) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.size += int64(n)
	if d.unpacked != nil {
		if stop := d.unpacked(n); stop != nil {
			return n, stop
		}
	}
	switch {
	case err == io.ErrUnexpectedEOF:
		err = fmt.Errorf("%w: the compressed data ends early", errIn(d.name))
	case err != nil && err != io.EOF:
		err = fmt.Errorf("%w: %w", errIn(d.name), err)
	case d.size > d.free && d.size/maxExpansion > d.packed.n.Load():
		err = fmt.Errorf("%w: the data expands to more than %d times its size; if you trust it, decompress it first", errIn(d.name), maxExpansion)
	}
	return n, err
}

func errIn(name string) error { return fmt.Errorf("census: %s", name) }

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

// content is the decompressed content of a source.
type content struct {
	*bufio.Reader
	head   []byte // the first prefixSize bytes, or all before an error or the end
	opened []io.Closer
}

func (c *content) close() {
	for i := len(c.opened) - 1; i >= 0; i-- {
		_ = c.opened[i].Close() // Read has returned all errors
	}
}

// newContent returns the decompressed content of in. The caller must close it, even after an
// error. If the error is [ErrEmpty], the content can still be read.
func newContent(in io.Reader, o *Options) (*content, error) {
	packed := &counted{Reader: in}
	c := new(content)
	in = packed
	for range maxNested + 1 {
		c.Reader = bufio.NewReaderSize(in, prefixSize)
		head, err := c.Peek(4)
		if len(head) == 0 && err != nil && err != io.EOF {
			return c, err
		}
		format := compressionOf(head)
		if format == nil {
			c.head, err = c.Peek(prefixSize)
			if len(c.head) == 0 && err == io.EOF {
				return c, ErrEmpty
			}
			return c, nil
		}
		opened, err := format.open(c.Reader, o.MaxWindow)
		if err != nil {
			return c, stopped(0, fmt.Errorf("%w: %w", errIn(format.name), err))
		}
		c.opened = append(c.opened, opened)
		in = &decompressed{ReadCloser: opened, name: format.name, packed: packed, free: o.FreeExpansion, unpacked: o.Unpacked}
	}
	return c, fmt.Errorf("%w: compressed more than %d times", ErrFormat, maxNested)
}

// compressionOf returns the compression of data that begins with head, or nil for none.
func compressionOf(head []byte) *compression {
	for i := range compressions {
		if strings.HasPrefix(string(head), compressions[i].magic) {
			return &compressions[i]
		}
	}
	return nil
}
