package source

import (
	"context"
	"fmt"
)

const (
	streamBlock  = 1 << 20 // bytes
	streamBlocks = 3       // in memory
)

// aheadReader is a source that another goroutine reads and decompresses, some blocks ahead.
type aheadReader struct {
	ctx  context.Context
	full chan filled // blocks that have been read
	free chan []byte // blocks to read into

	block []byte // the one that rest belongs to
	rest  []byte // what has been read, and not yet passed on
	err   error  // after rest
}

// filled is a block, how many bytes were read into it, and the error after them.
type filled struct {
	block []byte
	n     int
	err   error
}

// readAhead starts to read in, and closes it at its end or once ctx is done, unless a read
// hangs.
func readAhead(ctx context.Context, in *content) *aheadReader {
	a := &aheadReader{ctx: ctx, full: make(chan filled, streamBlocks), free: make(chan []byte, streamBlocks)}
	for range streamBlocks {
		a.free <- make([]byte, streamBlock)
	}
	go func() {
		defer in.close()
		for {
			var f filled
			select {
			case f.block = <-a.free:
			case <-ctx.Done():
				return
			}
			for f.n < len(f.block) && f.err == nil {
				var k int
				k, f.err = in.Read(f.block[f.n:])
				f.n += k
			}
			a.full <- f // which has room for all blocks
			if f.err != nil {
				return
			}
		}
	}()
	return a
}

// Read is an [io.Reader]. The error is in's, or ctx's cause.
func (a *aheadReader) Read(p []byte) (int, error) {
	for len(a.rest) == 0 && a.err == nil {
		if a.block != nil {
			a.free <- a.block
		}
		select {
		case f := <-a.full:
			a.block, a.rest, a.err = f.block, f.block[:f.n], f.err
		case <-a.ctx.Done():
			a.block, a.err = nil, context.Cause(a.ctx)
		}
	}
	n := copy(p, a.rest)
	if a.rest = a.rest[n:]; n == 0 {
		return 0, a.err
	}
	return n, nil
}

// stopped returns an error with the position at which reading stopped, and why.
func stopped(offset int64, err error) error {
	return fmt.Errorf("stopped at byte %d: %w", offset, err)
}
