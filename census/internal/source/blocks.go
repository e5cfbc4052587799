package source

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
)

const (
	// blockSize is how many bytes of a source are read at once: few enough to be
	// still in the cache of the core that parses them.
	blockSize = 256 << 10

	// batchSize is how many documents of a stream, or rows, go into one batch.
	batchSize = 1 << 14

	// maxLine is the length of the longest line that is read.
	maxLine = 64 << 20

	// ahead is how many blocks, in addition to one for each worker, may wait for
	// an earlier one to be taken.
	ahead = 4
)

// blockParser finds the ids in a block of whole units: lines, or documents. It may keep
// state from block to block, but only to be faster.
type blockParser func(block []byte, b *Batch)

// cutter returns the end of the last whole unit in data, 0 if there is none, or how much of
// data can be parsed if the source ends there. The error means that what follows cannot be
// read.
type cutter func(data []byte, atEnd bool) (end int, err error)

// blocks reads a source in blocks of whole units and parses several of them at once.
type blocks struct {
	*Input
	prepare func(*Batch)

	mu     sync.Mutex
	queue  chan *Batch // of the blocks that were read, in the order of the source
	carry  []byte      // the beginning of a unit whose end has not been read
	offset int64       // bytes read or, once there is an error, its position
	err    error       // of the source or of the cutter
}

// read calls take for every block's batch, in the order of the source. The error
// is take's, the reader's with its position, or ctx's cause.
func (l *blocks) read(ctx context.Context, take func(*Batch) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.queue = make(chan *Batch, l.options.Workers+ahead)
	var wg sync.WaitGroup
	for range l.options.Workers {
		wg.Go(func() { l.work(ctx, l.reader.parse(l.Input)) })
	}
	go func() {
		wg.Wait()
		close(l.queue)
	}()
	var failed error
	for b := range l.queue {
		<-b.ready
		if failed == nil {
			if failed = cmp.Or(take(b), b.stop); failed != nil {
				cancel(failed)
			}
		}
		b.reset()
		l.batches.Put(b)
	}
	if failed != nil {
		return failed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.err != io.EOF {
		return stopped(l.offset, l.err)
	}
	return nil
}

// work reads and parses blocks until there are none.
func (l *blocks) work(ctx context.Context, parse blockParser) {
	buf := make([]byte, blockSize)
	for {
		b := l.batches.Get().(*Batch)
		data := l.next(ctx, &buf, b)
		if len(data) == 0 {
			return
		}
		parse(data, b)
		l.prepare(b)
		b.ready <- struct{}{}
	}
}

// next reads the next block, for b, into buf, and enters b into the queue. Without data
// there are no more.
func (l *blocks) next(ctx context.Context, buf *[]byte, b *Batch) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.start = l.offset - int64(len(l.carry))
	data := l.fill(ctx, buf)
	if len(data) > 0 {
		select {
		case l.queue <- b:
		case <-ctx.Done():
			return nil
		}
	}
	return data
}

// fill reads whole units into buf, which it enlarges if necessary, and keeps the
// bytes after them for the next call.
func (l *blocks) fill(ctx context.Context, buf *[]byte) []byte {
	if len(*buf) <= len(l.carry) {
		*buf = make([]byte, 2*len(l.carry))
	}
	n := copy(*buf, l.carry)
	l.carry = l.carry[:0]
	for {
		for n < len(*buf) && l.err == nil && ctx.Err() == nil {
			var k int
			k, l.err = l.text.Read((*buf)[n:])
			n += k
			l.offset += int64(k)
		}
		data := (*buf)[:n]
		end, err := l.reader.cut(data, l.err == io.EOF)
		if err == nil && end == 0 && n >= maxLine {
			err = fmt.Errorf("a line longer than %d MiB", maxLine>>20)
		}
		switch {
		case err != nil:
			l.err, l.offset = err, l.offset-int64(n-end)
			return data[:end]
		case l.err != nil || ctx.Err() != nil:
			return data[:end]
		case end > 0:
			l.carry = append(l.carry, data[end:]...)
			return data[:end]
		}
		*buf = append(data, make([]byte, n)...)
	}
}

// betweenLines cuts after newlines. The last line of a source needs none.
func betweenLines(data []byte, atEnd bool) (int, error) {
	if atEnd {
		return len(data), nil
	}
	return bytes.LastIndexByte(data, '\n') + 1, nil
}
