package source

import (
	"bytes"
	"context"
	"io"
	"sync"
)

const (
	// blockSize is how many bytes of a text are read at once: few enough to be
	// still in the cache of the core that parses them.
	blockSize = 256 << 10

	// maxLine is the length of the longest line that is read.
	maxLine = 64 << 20

	// ahead is how many blocks, in addition to one for each worker, may wait for
	// an earlier one.
	ahead = 4
)

// lineParser finds the ids in whole lines. Its parse may keep state from block
// to block, but only to be faster.
type lineParser interface {
	parse(block []byte, b *Batch)
}

// lines reads a text in blocks of whole lines and parses several of them at once.
type lines struct {
	in      io.Reader
	ends    ends
	workers int
	pool    *pool

	mu     sync.Mutex
	carry  []byte // the beginning of a line whose end has not been read
	seq    int
	offset int64 // bytes read
	skip   bool  // the rest of a line that is too long
	err    error // of in, once there is one
}

// block is a stretch of whole lines.
type block struct {
	data    []byte
	seq     int
	tooLong bool // without data: represents one line longer than maxLine
}

// read calls emit for every block's batch, in the order of the text. The error
// is emit's, the reader's with its position, or ctx's cause.
func (l *lines) read(ctx context.Context, newParser func() lineParser, emit func(*Batch) error) error {
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
				if failed = emit(b); failed != nil {
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
		return stopped(l.offset, l.err)
	}
	return nil
}

// work parses blocks until there are none.
func (l *lines) work(ctx context.Context, p lineParser, tokens chan struct{}, done chan<- *Batch) {
	buf := make([]byte, blockSize)
	for {
		blk, ok := l.next(ctx, &buf, tokens)
		if !ok {
			return
		}
		b := l.pool.get()
		b.seq = blk.seq
		if blk.tooLong {
			b.Documents = 1
			b.addProblem(0, "line longer than %d MiB: skipped", maxLine>>20)
		} else {
			p.parse(blk.data, b)
		}
		done <- b
	}
}

// next reads the next block into buf. It takes a token first, so that the block that
// all others wait for always has one.
func (l *lines) next(ctx context.Context, buf *[]byte, tokens chan struct{}) (block, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case tokens <- struct{}{}:
	case <-ctx.Done():
		return block{}, false
	}
	data, tooLong := l.fill(ctx, buf)
	if len(data) == 0 && !tooLong {
		<-tokens
		return block{}, false
	}
	l.seq++
	return block{data: data, seq: l.seq - 1, tooLong: tooLong}, true
}

// fill reads whole lines into buf, which it enlarges if necessary, and keeps the
// bytes after them for the next call. tooLong represents one line that is skipped.
// Without data and tooLong, the text is at its end.
func (l *lines) fill(ctx context.Context, buf *[]byte) (data []byte, tooLong bool) {
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
		over := l.err != nil || ctx.Err() != nil
		if l.skip {
			end := l.ends.first(data)
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
		end := l.ends.last(data)
		switch {
		case l.err == io.EOF:
			return data, false // the last line needs no newline
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

// ends finds the first and the last end of a line in data: the position after it, or
// 0 if there is none.
type ends struct {
	first, last func(data []byte) int
}

// newlines are the ends of lines of text.
var newlines = ends{
	first: func(data []byte) int { return bytes.IndexByte(data, '\n') + 1 },
	last:  func(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 },
}
