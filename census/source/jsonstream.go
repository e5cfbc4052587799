package source

import (
	"bufio"
	"bytes"
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

// readJSON emits JSON documents that are not one to a line: the elements of an array, or
// documents written over several lines. All or some of them may be in an array.
func (s *Input) readJSON(in io.Reader, emit func(*Batch) error) error {
	var stream jsonStream
	documents := bufio.NewScanner(in)
	documents.Buffer(make([]byte, blockSize), maxJSON)
	documents.Split(stream.split)
	for {
		b := s.batches.Get().(*Batch)
		for b.Documents < batchSize && documents.Scan() {
			doc := documents.Bytes()
			if _, err := b.addDocument(doc, 0, b.Documents, s.path, s.elements); err != nil {
				b.addProblem(b.Documents, "%w: %q", err, clip(doc))
			}
			b.Documents++
		}
		ended := b.Documents < batchSize
		if err := emit(b); err != nil {
			return err
		}
		switch err := documents.Err(); {
		case err == bufio.ErrTooLong:
			return stopped(stream.offset, fmt.Errorf("a JSON document longer than %d MiB", maxJSON>>20))
		case err != nil:
			return stopped(stream.offset, err)
		case ended:
			return nil
		}
	}
}

// jsonStream finds the documents in a stream of JSON.
type jsonStream struct {
	inArray bool
	offset  int64 // of what follows the last document
	want    int   // how many bytes to wait for, so that long documents are not searched too often
}

// split is a [bufio.SplitFunc]. Commas count as space: where one is missing or doubled,
// the documents can still be separated.
func (j *jsonStream) split(data []byte, atEnd bool) (advance int, doc []byte, err error) {
	if len(data) < j.want && !atEnd {
		return 0, nil, nil
	}
	i, inArray := 0, j.inArray
	for ; i < len(data); i++ {
		if c := data[i]; c == '[' && !inArray || c == ']' && inArray {
			inArray = !inArray
		} else if !isSpace[c] && c != ',' {
			break
		}
	}
	rest, size := data[i:], 0
	switch {
	case len(rest) == 0 && inArray && atEnd:
		err = fmt.Errorf("the array does not end: %w", io.ErrUnexpectedEOF)
	case len(rest) == 0:
	case bytes.HasPrefix(rest, []byte(morePrompt)):
		err = errMore
	default:
		size, err = skipValue(rest, 0)
		switch {
		// What ends with the data may be a word that continues.
		case !atEnd && (err == errUnfinished || err == nil && size == len(rest)):
			j.want = min(2*len(data), maxJSON)
			return 0, nil, nil
		case err == errUnfinished:
			err = fmt.Errorf("%w: %w", err, io.ErrUnexpectedEOF)
		case err != nil:
			err = fmt.Errorf("%w: %q", err, clip(rest))
		default:
			doc = rest[:size]
		}
	}
	j.inArray, j.want, j.offset = inArray, 0, j.offset+int64(i+size)
	return i + size, doc, err
}
