package source

import (
	"context"
	"fmt"
	"io"
)

const (
	streamBlock = 1 << 20
	headroom    = 64 << 10 // in a block, for the rest of the one before
	readAhead   = 3        // blocks
)

// stream is an input, of which a part is in memory while another goroutine reads
// the next one.
type stream struct {
	data   []byte // read, but not yet passed
	offset int64  // of data in the input

	full chan filled // blocks that have been read
	free chan []byte // blocks to read into; nil is one to be allocated
	stop chan struct{}
	buf  []byte // the block that holds data, if it returns to free
	err  error  // of the input; more returns it once full is empty
}

// filled is a block, how many bytes were read into it, and the error after them.
type filled struct {
	buf []byte
	n   int
	err error
}

// newStream starts to read in, and closes it at its end. close must be called; it does
// not wait for a read that hangs.
func newStream(in *content) *stream {
	s := &stream{full: make(chan filled, readAhead), free: make(chan []byte, readAhead), stop: make(chan struct{})}
	for range readAhead {
		s.free <- nil
	}
	go s.fill(in)
	return s
}

func (s *stream) close() { close(s.stop) }

func (s *stream) fill(in *content) {
	defer in.close()
	defer close(s.full)
	for {
		var buf []byte
		select {
		case buf = <-s.free:
		case <-s.stop:
			return
		}
		if buf == nil {
			buf = make([]byte, headroom+streamBlock)
		}
		n, err := in.Read(buf[headroom:])
		for err == nil && n < streamBlock {
			var k int
			k, err = in.Read(buf[headroom+n:])
			n += k
		}
		select {
		case s.full <- filled{buf, n, err}:
		case <-s.stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// more adds the next block to data. The error is io.EOF at the end of the input, the
// input's, or ctx's cause.
func (s *stream) more(ctx context.Context) error {
	if s.err != nil {
		return s.err
	}
	select {
	case f := <-s.full:
		s.err = f.err
		if f.n == 0 {
			return s.err
		}
		if len(s.data) > headroom {
			s.data = append(s.data[:len(s.data):cap(s.data)], f.buf[headroom:headroom+f.n]...)
			s.free <- f.buf
			return nil
		}
		from := headroom - len(s.data)
		copy(f.buf[from:], s.data)
		s.data = f.buf[from : headroom+f.n : headroom+f.n]
		if s.buf != nil {
			s.free <- s.buf
		}
		s.buf = f.buf
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// need reads until data has n bytes. The error is that of more; io.ErrUnexpectedEOF
// if the input ends after some of the n bytes.
func (s *stream) need(ctx context.Context, n int) error {
	for len(s.data) < n {
		if err := s.more(ctx); err != nil {
			if err == io.EOF && len(s.data) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// pass removes the first n bytes from data.
func (s *stream) pass(n int) {
	s.data = s.data[n:]
	s.offset += int64(n)
}

// stopped returns an error with the position at which reading stopped, and why.
func stopped(offset int64, err error) error {
	return fmt.Errorf("stopped at byte %d: %w", offset, err)
}
