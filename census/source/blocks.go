package source

import (
	"bytes"
	"context"
	"io"
	"sync"
)

const (
	// blockSize is how many bytes of a source are read at once: few enough to be
	// still in the cache of the core that parses them.
	blockSize = 256 << 10

	// maxLine is the length of the longest line that is read.
	maxLine = 64 << 20

	// ahead is how many blocks, in addition to one for each worker, may wait for
	// an earlier one.
	ahead = 4
)

// blockParser finds the ids in a block of whole units: lines, or documents. It may keep
// state from block to block, but only to be faster.
type blockParser func(block []byte, b *Batch)

// blocks reads a source in blocks of whole units and parses several of them at once.
type blocks struct {
	in      io.Reader
	cut     cutter
	workers int
	pool    *pool
	prepare func(*Batch)

	mu     sync.Mutex
	carry  []byte // the beginning of a unit whose end has not been read
	seq    int
	offset int64 // bytes read
	skip   bool  // the rest of a line that is too long
	err    error // of in or of the cutter, once there is one
	errAt  int64 // the position of err
}

// cutter finds where units end.
type cutter interface {
	// last returns the end of the last whole unit in data, 0 if there is none. The
	// error means that what follows cannot be read.
	last(data []byte) (end int, err error)
	// first returns the end of the unit of which data is a part, or 0.
	first(data []byte) int
	// rest returns how much of data, in which the source ends, can be parsed.
	rest(data []byte) (end int, err error)
}

// block is a stretch of whole units.
type block struct {
	data    []byte
	seq     int
	start   int64 // position of data in the source
	tooLong bool  // without data: represents one line longer than maxLine
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
			l.pool.put(b)
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
		return stopped(l.errAt, l.err)
	}
	return nil
}

// work parses blocks until there are none.
func (l *blocks) work(ctx context.Context, parse blockParser, tokens chan struct{}, done chan<- *Batch) {
	buf := make([]byte, blockSize)
	for {
		blk, ok := l.next(ctx, &buf, tokens)
		if !ok {
			return
		}
		b := l.pool.get()
		b.seq, b.start = blk.seq, blk.start
		if blk.tooLong {
			b.Documents = 1
			b.addProblem(0, "line longer than %d MiB: skipped", maxLine>>20)
		} else {
			parse(blk.data, b)
		}
		l.prepare(b)
		done <- b
	}
}

// next reads the next block into buf. It takes a token first, so that the block that
// all others wait for always has one.
func (l *blocks) next(ctx context.Context, buf *[]byte, tokens chan struct{}) (block, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case tokens <- struct{}{}:
	case <-ctx.Done():
		return block{}, false
	}
	start := l.offset - int64(len(l.carry))
	data, tooLong := l.fill(ctx, buf)
	if len(data) == 0 && !tooLong {
		<-tokens
		return block{}, false
	}
	l.seq++
	return block{data: data, seq: l.seq - 1, start: start, tooLong: tooLong}, true
}

// fill reads whole units into buf, which it enlarges if necessary, and keeps the
// bytes after them for the next call. tooLong represents one line that is skipped.
// Without data and tooLong, the source is at its end.
func (l *blocks) fill(ctx context.Context, buf *[]byte) (data []byte, tooLong bool) {
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
			l.errAt = l.offset
		}
		data := (*buf)[:n]
		over := l.err != nil || ctx.Err() != nil
		if l.skip {
			end := l.cut.first(data)
			if end == 0 && over {
				return nil, false
			}
			if end == 0 {
				n = 0
				continue
			}
			l.skip = false
			n = copy(data, data[end:])
			continue
		}
		cut := l.cut.last
		if l.err == io.EOF {
			cut = l.cut.rest
		}
		end, err := cut(data)
		switch {
		case err != nil:
			l.err, l.errAt = err, l.offset-int64(n-end)
			return data[:end], false
		case over:
			return data[:end], false
		case end > 0:
			l.carry = append(l.carry, data[end:]...)
			return data[:end], false
		case n >= maxLine:
			l.skip = true
			return nil, true
		}
		*buf = append(data, make([]byte, n)...)
	}
}

// newlines cuts between lines.
type newlines struct{}

func (newlines) last(data []byte) (int, error) { return bytes.LastIndexByte(data, '\n') + 1, nil }
func (newlines) first(data []byte) int         { return bytes.IndexByte(data, '\n') + 1 }
func (newlines) rest(data []byte) (int, error) { return len(data), nil } // the last line needs no newline
