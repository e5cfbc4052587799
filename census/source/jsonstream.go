package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxJSON is the longest document that is read from a stream of JSON.
const maxJSON = maxLine

// morePrompt is what mongosh writes where it has more documents than it shows.
const morePrompt = `Type "it" for more`

// errMore is the error for the output of mongosh that ends before its documents do.
var errMore = errors.New(`the output of mongosh ends here with '` + morePrompt + `': write all documents, with .toArray() after find() or with mongoexport`)

// jsonReader reads JSON documents that are not one to a line: the elements of an
// array, or documents written over several lines.
type jsonReader struct {
	*Input
	*stream
	emit func(*Batch) error
}

// read emits all documents. All or some of them may be in an array.
func (r *jsonReader) read(ctx context.Context) error {
	depth := 0 // of arrays around documents: 0 or 1
	for {
		b := r.pool.get()
		err := r.batch(ctx, b, &depth)
		if failed := r.emit(b); failed != nil {
			return failed
		}
		if err == io.EOF && depth == 0 {
			return nil
		}
		if err == io.EOF {
			err = fmt.Errorf("the array does not end: %w", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return stopped(r.offset, err)
		}
	}
}

func (r *jsonReader) batch(ctx context.Context, b *Batch, depth *int) error {
	for b.Documents < batchSize {
		// Commas count as space: where one is missing or doubled, the documents
		// can still be separated.
		i := 0
		for i < len(r.data) && (isSpace[r.data[i]] || r.data[i] == ',') {
			i++
		}
		r.pass(i)
		if len(r.data) == 0 {
			if err := r.more(ctx); err != nil {
				return err
			}
			continue
		}
		switch c := r.data[0]; {
		case c == '[' && *depth == 0:
			*depth = 1
			r.pass(1)
			continue
		case c == ']' && *depth == 1:
			*depth = 0
			r.pass(1)
			continue
		}
		if c := r.data[0]; c == 'T' && r.need(ctx, len(morePrompt)) == nil && string(r.data[:len(morePrompt)]) == morePrompt {
			return errMore
		}
		size, err := r.document(ctx)
		if err != nil {
			return err
		}
		if _, err := b.addDocument(r.data[:size], 0, b.Documents, r.path, r.elements); err != nil {
			b.addProblem(b.Documents, "%w: %q", err, clip(r.data[:size]))
		}
		b.Documents++
		r.pass(size)
	}
	return nil
}

// document reads until data begins with the whole next document, and returns its
// size.
func (r *jsonReader) document(ctx context.Context) (size int, err error) {
	for {
		size, err := skipValue(r.data, 0)
		// A word that ends where the data ends may continue.
		word := err == nil && size == len(r.data) && !bytes.ContainsRune([]byte(`}]"`), rune(r.data[size-1]))
		if err == nil && !word {
			return size, nil
		}
		if err != nil && err != errUnfinished {
			return 0, fmt.Errorf("%w: %q", err, clip(r.data))
		}
		if len(r.data) >= maxJSON {
			return 0, fmt.Errorf("a JSON document longer than %d MiB", maxJSON>>20)
		}
		switch had := len(r.data); r.need(ctx, 2*had) {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			if len(r.data) > had {
				break
			}
			if word {
				return size, nil
			}
			return 0, fmt.Errorf("%w: %w", errUnfinished, io.ErrUnexpectedEOF)
		default:
			return 0, r.err
		}
	}
}
