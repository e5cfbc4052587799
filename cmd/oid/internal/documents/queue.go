package documents

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	// maxLine is the longest line in bytes: a document of 16 MiB is longer as JSON.
	maxLine = 64 << 20

	// put waits while the queue holds this much.
	queueLines = 2000
	queueBytes = 16 << 20
)

// Line is a line of input: a document, or an error.
type Line struct {
	Number int // from 1
	Doc    bson.D
	Err    error
}

// Queue holds the lines that one goroutine has read and another has not stored
// yet.
type Queue struct {
	mu      sync.Mutex
	changed sync.Cond
	lines   []Line
	bytes   int
	done    bool  // there will be no more lines
	err     error // why the input ended early
}

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	q := &Queue{}
	q.changed.L = &q.mu
	return q
}

// Take returns the lines in the queue; it waits for one. None and no error means that
// the input has ended.
func (q *Queue) Take(ctx context.Context) ([]Line, error) {
	defer context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.changed.Broadcast()
	})()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 && !q.done && ctx.Err() == nil {
		q.changed.Wait()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	lines := q.lines
	q.lines, q.bytes = nil, 0
	q.changed.Broadcast()
	if len(lines) == 0 {
		return nil, q.err
	}
	return lines, nil
}

// put adds a line of size bytes, and waits while the queue is full. It returns false
// after Stop.
func (q *Queue) put(l Line, size int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.done && len(q.lines) > 0 && (len(q.lines) >= queueLines || q.bytes+size > queueBytes) {
		q.changed.Wait()
	}
	if q.done {
		return false
	}
	q.lines = append(q.lines, l)
	q.bytes += size
	q.changed.Broadcast()
	return true
}

func (q *Queue) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.done {
		q.done, q.err = true, err
	}
	q.changed.Broadcast()
}

// Stop ends Read, unless it waits for its input.
func (q *Queue) Stop() { q.end(nil) }

var errLongLine = fmt.Errorf("line of more than %d MiB", maxLine>>20)

// Read puts the documents of in into the queue. Empty lines are left out.
func (q *Queue) Read(in io.Reader) {
	r := bufio.NewReaderSize(in, 1<<16)
	for number := 1; ; number++ {
		text, err := readLine(r)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errLongLine) {
			q.end(fmt.Errorf("read line %d: %w", number, err))
			return
		}
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors add it
		}
		last := errors.Is(err, io.EOF)
		if len(bytes.TrimSpace(text)) > 0 || errors.Is(err, errLongLine) {
			l := Line{Number: number, Err: errLongLine}
			if !errors.Is(err, errLongLine) {
				l.Doc, l.Err = Parse(text)
			}
			if !q.put(l, len(text)) {
				return
			}
		}
		if last {
			q.end(nil)
			return
		}
	}
}

// readLine returns a line. It skips a line that is too long, with errLongLine. At the
// end of the input it returns the last line with io.EOF.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxLine; long {
			text = nil
		} else {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLongLine // at the end, the next call finds it again
		default:
			return text, err
		}
	}
}
