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
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/semaphore"

	"github.com/oidkit/oid/census"
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
		err := fmt.Errorf("not JSON: %w", json.Unmarshal(text, &value))
		if bytes.Contains(text, []byte("ObjectId(")) || bytes.Contains(text, []byte("ISODate(")) {
			err = fmt.Errorf("%w; this is the notation of a shell: write Extended JSON, with mongoexport or with EJSON.stringify() in mongosh", err)
		}
		return nil, err
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
func AsLine(doc any) ([]byte, error) {
	line, err := bson.MarshalExtJSON(doc, false, false)
	if err != nil {
		return nil, fmt.Errorf("convert a document to JSON: %w", err)
	}
	return append(line, '\n'), nil
}

const (
	// maxLine is the maximum length of a line in bytes. A document of 16 MiB may be a few times
	// as long in JSON.
	maxLine = 64 << 20

	// Limits of a batch. Reading pauses while the next batch has so many lines or bytes.
	batchLines = 2000
	batchBytes = 16 << 20
)

// Line is a line of input, or a document in it.
type Line struct {
	Unit   string // what Number counts from 1: "line" or "document"
	Number int64
	Doc    any   // the document, a bson.D or a bson.Raw; nil if Err is not nil
	Err    error // why this is no document

	size int64 // in bytes
}

// Batches returns the lines of in, in batches: while the caller handles a batch, Batches reads
// the next one. Empty lines are left out. If in does not begin with a document on one line, Batches
// returns the documents that [census.Documents] finds: the elements of an array, JSON over several
// lines, BSON. If in fails or ctx is done, the sequence ends with
// that error.
func Batches(ctx context.Context, in io.Reader) iter.Seq2[[]Line, error] {
	return func(yield func([]Line, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		lines, room := make(chan Line, batchLines), semaphore.NewWeighted(batchBytes)
		var failed error // of in, when lines is closed
		go func() {
			defer close(lines)
			failed = read(ctx, in, func(l Line) {
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

// read calls use for each line or document of in, until ctx is done. It returns the error of in.
func read(ctx context.Context, in io.Reader, use func(Line)) error {
	r := bufio.NewReaderSize(in, 1<<16)
	if !isByLine(r) {
		return census.Documents(ctx, r, func(d census.Document) error {
			l := Line{Unit: d.Unit, Number: d.Number, Doc: bson.Raw(d.Data), size: int64(len(d.Data))}
			if !d.IsBSON {
				l.parse(d.Data)
			}
			use(l)
			return context.Cause(ctx)
		})
	}
	lines, number := bufio.NewScanner(r), int64(1)
	lines.Buffer(nil, maxLine)
	for ; ctx.Err() == nil && lines.Scan(); number++ {
		text := lines.Bytes()
		if number == 1 {
			text = bytes.TrimPrefix(text, mark)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			l := Line{Unit: "line", Number: number, size: int64(len(text))}
			l.parse(text)
			use(l)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d is longer than %d MiB", number, maxLine>>20)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read line %d: %w", number, err)
	}
	return nil
}

// parse sets Doc or Err of l.
func (l *Line) parse(text []byte) {
	doc, err := Parse(text)
	if l.Doc, l.Err = doc, err; err != nil {
		l.Doc = nil
	}
}

// mark is the byte order mark, which some editors add.
var mark = []byte("\ufeff")

// isByLine reports whether r begins with text that has one document per line, or with text that
// is no document. It reads no more than it needs for that.
func isByLine(r *bufio.Reader) bool {
	for n := 1; ; n = max(n+1, r.Buffered()) {
		head, err := r.Peek(n)
		line, next, ended := bytes.Cut(bytes.TrimLeft(bytes.TrimPrefix(head, mark), " \t\r\n"), []byte("\n"))
		line, next = bytes.TrimSpace(line), bytes.TrimSpace(next)
		isOpen := len(line) > 0 && line[0] == '{' && line[len(line)-1] != '}'
		if err != nil || ended && (!isOpen || len(next) > 0) {
			isBinary := bytes.ContainsFunc(line, func(c rune) bool { return c < ' ' && !unicode.IsSpace(c) || c == utf8.RuneError })
			isArray := bytes.HasPrefix(line, []byte("[")) || bytes.HasPrefix(line, []byte("/"))
			return !isBinary && !isArray && (!isOpen || len(next) == 0 || next[0] == '{')
		}
	}
}
