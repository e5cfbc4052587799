package source

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

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
		block := make([]byte, streamBlock)
		for {
			n, err := 0, error(nil)
			for n < len(block) && err == nil {
				var k int
				k, err = in.Read(block[n:])
				n += k
			}
			if _, closed := pipe.Write(block[:n]); closed != nil {
				return
			}
			if err != nil {
				pipe.CloseWithError(err)
				return
			}
		}
	}()
	return bufio.NewReaderSize(out, streamBlock)
}

// stopped returns an error with the position at which reading stopped, and why.
func stopped(offset int64, err error) error {
	return fmt.Errorf("stopped at byte %d: %w", offset, err)
}
