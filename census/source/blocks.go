package source

import (
	"bytes"
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
	// an earlier one.
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
	in      io.Reader
	cut     cutter
	workers int
	batches *sync.Pool
	prepare func(*Batch)

	mu     sync.Mutex
	carry  []byte // the beginning of a unit whose end has not been read
	seq    int
	offset int64 // bytes read or, once there is an error, its position
	err    error // of in or of the cutter
}

// read calls take for every block's batch, in the order of the source. The error
// is take's, the reader's with its position, or ctx's cause.
func (l *blocks) read(ctx context.Context, newParser func() blockParser, take func(*Batch) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tokens := make(chan struct{}, l.workers+ahead)
	done := make(chan *Batch)
	var wg sync.WaitGroup
	for range l.workers {
		wg.Go(func() { l.work(ctx, newParser(), tokens, done) })
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	pending := map[int]*Batch{}
	next := 0
	var failed error
	for b := range done {
		pending[b.seq] = b
		for b := pending[next]; b != nil; b = pending[next] {
			delete(pending, next)
			next++
			if failed == nil {
				if failed = take(b); failed == nil {
					failed = b.stop
				}
				if failed != nil {
					cancel(failed)
				}
			}
			b.reset()
			l.batches.Put(b)
			<-tokens
		}
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

// work parses blocks until there are none.
func (l *blocks) work(ctx context.Context, parse blockParser, tokens chan struct{}, done chan<- *Batch) {
	buf := make([]byte, blockSize)
	for {
		b := l.batches.Get().(*Batch)
		data := l.next(ctx, &buf, tokens, b)
		if len(data) == 0 {
			return
		}
		parse(data, b)
		l.prepare(b)
		done <- b
	}
}

// next reads the next block, for b, into buf. It takes a token first, so that the block
// that all others wait for always has one. Without data there are no more.
func (l *blocks) next(ctx context.Context, buf *[]byte, tokens chan struct{}, b *Batch) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case tokens <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	b.seq, b.start = l.seq, l.offset-int64(len(l.carry))
	l.seq++
	return l.fill(ctx, buf)
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
			k, l.err = l.in.Read((*buf)[n:])
			n += k
			l.offset += int64(k)
		}
		data := (*buf)[:n]
		end, err := l.cut(data, l.err == io.EOF)
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
