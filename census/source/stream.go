package source

import (
	"context"
	"fmt"
	"io"
)

const (
	streamBlock = 1 << 20
	headroom    = 64 << 10 // for what is left of the block before
	readAhead   = 3        // blocks
)

// stream is an input of which a part is in memory, while another goroutine reads
// on.
type stream struct {
	data   []byte // what has been read and not been passed
	offset int64  // of data in the input

	full chan filled // blocks that have been read
	free chan []byte // and that can be read into
	stop chan struct{}
	buf  []byte // that data lies in, if it goes back to free
	err  error  // what more returns when full is empty
}

type filled struct {
	buf []byte
	n   int
	err error
}

// newStream starts to read in. close must be called; it does not wait for a read
// that hangs.
func newStream(in io.Reader) *stream {
	s := &stream{full: make(chan filled, readAhead), free: make(chan []byte, readAhead), stop: make(chan struct{})}
	for range readAhead {
		s.free <- nil
	}
	go s.fill(in)
	return s
}

func (s *stream) close() { close(s.stop) }

func (s *stream) fill(in io.Reader) {
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

// more makes data longer. Its error is io.EOF at the end of the input.
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

// need reads on until data has n bytes.
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

func (s *stream) pass(n int) {
	s.data = s.data[n:]
	s.offset += int64(n)
}

// stopped says where reading stopped, and why.
func stopped(offset int64, err error) error {
	return fmt.Errorf("stopped at byte %d: %w", offset, err)
}
