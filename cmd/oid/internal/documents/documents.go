// Package documents reads and writes documents as MongoDB's Extended JSON, one per line.
package documents

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/semaphore"

	"github.com/oidkit/oid/store"
)

// Parse parses a document in Extended JSON, relaxed or canonical.
func Parse(text []byte) (bson.D, error) {
	text = bytes.TrimSpace(text)
	// Check the text first: the BSON library ignores what follows the first value.
	switch {
	case !utf8.Valid(text):
		return nil, errors.New("not UTF-8")
	case !json.Valid(text):
		var value json.RawMessage
		return nil, fmt.Errorf("not JSON: %w", json.Unmarshal(text, &value))
	case text[0] != '{':
		return nil, errors.New("not a JSON object")
	}
	var doc bson.D
	if err := bson.UnmarshalExtJSON(text, false, &doc); err != nil {
		return nil, fmt.Errorf("not Extended JSON: %w", err)
	}
	return doc, nil
}

// AsLine returns doc as relaxed Extended JSON and a newline.
func AsLine(doc bson.Raw) ([]byte, error) {
	line, err := bson.MarshalExtJSON(doc, false, false)
	if err != nil {
		return nil, fmt.Errorf("convert a document to JSON: %w", err)
	}
	return append(line, '\n'), nil
}

// KeyLine returns a line with key: in the form of [store.Key.String] or, if asJSON is true, as
// {"_id": ...}.
func KeyLine(key store.Key, asJSON bool) ([]byte, error) {
	if !asJSON {
		return []byte(key.String() + "\n"), nil
	}
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: key}})
	if err != nil {
		return nil, err
	}
	return AsLine(doc)
}

const (
	// maxLine is the maximum length of a line in bytes. A document of 16 MiB may be a few times
	// as long in JSON.
	maxLine = 64 << 20

	// Limits of a batch. Reading pauses while the next batch has so many lines or bytes.
	batchLines = 2000
	batchBytes = 16 << 20
)

// Line is a line of input.
type Line struct {
	Number int    // of the line, from 1
	Doc    bson.D // the document; nil if Err is not nil
	Err    error  // why the line is not a document

	size int64 // in bytes
}

// Batches returns the lines of in, in batches: while the caller handles a batch, Batches reads
// the next one. Empty lines are left out. If in fails or ctx is done, the sequence ends with
// that error.
func Batches(ctx context.Context, in io.Reader) iter.Seq2[[]Line, error] {
	return func(yield func([]Line, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		lines, room := make(chan Line, batchLines), semaphore.NewWeighted(batchBytes)
		var failed error // of in, when lines is closed
		go func() {
			defer close(lines)
			failed = readLines(ctx, in, func(l Line) {
				l.size = min(l.size, batchBytes)
				if room.Acquire(ctx, l.size) != nil {
					return
				}
				select {
				case lines <- l:
				case <-ctx.Done():
				}
			})
		}()
		for {
			select {
			case l, more := <-lines:
				if !more {
					if err := cmp.Or(context.Cause(ctx), failed); err != nil {
						yield(nil, err)
					}
					return
				}
				batch := []Line{l}
				for range len(lines) {
					batch = append(batch, <-lines)
				}
				for _, l := range batch {
					room.Release(l.size)
				}
				if !yield(batch, nil) {
					return
				}
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
		}
	}
}

var errLongLine = fmt.Errorf("the line is longer than %d MiB", maxLine>>20)

// readLines calls use for each line of in that is not empty, until ctx is done. It returns the
// error of in.
func readLines(ctx context.Context, in io.Reader, use func(Line)) error {
	r := bufio.NewReaderSize(in, 1<<16)
	for number := 1; ctx.Err() == nil; number++ {
		text, err := readLine(r)
		long, end := errors.Is(err, errLongLine), errors.Is(err, io.EOF)
		if err != nil && !long && !end {
			return fmt.Errorf("read line %d: %w", number, err)
		}
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors add it
		}
		if long || len(bytes.TrimSpace(text)) > 0 {
			l := Line{Number: number, Err: errLongLine, size: int64(len(text))}
			if !long {
				l.Doc, l.Err = Parse(text)
			}
			use(l)
		}
		if end {
			break
		}
	}
	return nil
}

// readLine reads the next line. If the line is longer than maxLine, readLine skips it and returns
// errLongLine. With the last line it returns io.EOF.
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
			return nil, errLongLine // at the end of the input, the next call returns io.EOF
		default:
			return text, err
		}
	}
}
