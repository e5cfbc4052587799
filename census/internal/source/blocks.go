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
	// blockSize is how many bytes of a source are read at once. Such a block fits into the
	// cache of the core that parses it.
	blockSize = 256 << 10

	// batchSize is the most documents or rows in a batch of JSON or CSV.
	batchSize = 1 << 14

	// maxLine is the length of the longest line that can be read, in bytes.
	maxLine = 64 << 20

	// ahead: up to this many parsed blocks plus one for each worker may wait for an earlier
	// block.
	ahead = 4
)

// blockParser adds the ids in block to b. A block has whole lines or whole documents. The
// parser may keep what makes the next block faster, but its results must not depend on the
// blocks before.
type blockParser func(block []byte, b *Batch)

// cutter returns the end of the last whole line or document in data, or 0 if there is none. If
// atEnd is true, the source ends with data, and the rest of data may be a line without a
// newline. An error says why the bytes after end cannot be read.
type cutter func(data []byte, atEnd bool) (end int, err error)

// blocks reads a source in blocks of whole lines or documents. Several goroutines parse the
// blocks.
type blocks struct {
	*Input
	prepare func(*Batch)

	mu     sync.Mutex
	queue  chan *Batch // batches of the blocks that were read, in the order of the source
	carry  []byte      // the beginning of a line or document whose end has not been read
	offset int64       // how many bytes were read or, after an error, its position
	err    error       // of the source or of the cutter
	inLine bool        // whether the last block ends within a line
}

// read calls take with the batch of each block, in the order of the source. It returns the
// error of take, the error of the source with its position, or the cause of ctx.
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
	if l.inLine && l.reader.format == Grep { // its parser counts the ends of lines
		b := &Batch{Documents: 1}
		l.prepare(b)
		return take(b)
	}
	return nil
}

// blockBuffers are of blockSize. A container may have many small files.
var blockBuffers = sync.Pool{New: func() any { return new(make([]byte, blockSize)) }}

// work reads and parses blocks to the end of the source.
func (l *blocks) work(ctx context.Context, parse blockParser) {
	buf := blockBuffers.Get().(*[]byte)
	defer func() {
		if len(*buf) == blockSize {
			blockBuffers.Put(buf)
		}
	}()
	for {
		b := l.batches.Get().(*Batch)
		data := l.next(ctx, buf, b)
		if len(data) == 0 {
			return
		}
		parse(data, b)
		l.prepare(b)
		b.ready <- struct{}{}
	}
}

// next reads the next block into buf and adds b to the queue as its batch. At the end of the
// source it returns no data.
func (l *blocks) next(ctx context.Context, buf *[]byte, b *Batch) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.start = l.offset - int64(len(l.carry))
	b.first = b.start == 0
	data := l.fill(ctx, buf)
	if len(data) > 0 {
		l.inLine = data[len(data)-1] != '\n'
		select {
		case l.queue <- b:
		case <-ctx.Done():
			return nil
		}
	}
	return data
}

// fill reads whole lines or documents into buf, which it enlarges if necessary. It keeps the
// bytes after them in carry for the next call.
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

// betweenLines is a cutter for lines. The last line of a source needs no newline.
func betweenLines(data []byte, atEnd bool) (int, error) {
	if atEnd {
		return len(data), nil
	}
	return bytes.LastIndexByte(data, '\n') + 1, nil
}
