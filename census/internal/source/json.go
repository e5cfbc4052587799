package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// jsonLines reads one JSON document per line.
//
// The position of the id depends only on the bytes before it. So if a line begins
// with the same bytes as the last line whose id was found by scanning, its id is at
// the same position.
type jsonLines struct {
	*Input
	before []byte // the bytes before the digits of an id
	after  []byte // the bytes after them, up to the closing brace
}

// maxBefore is how many bytes before an id are compared at most. With more, lines
// rarely agree.
const maxBefore = 512

func (p *jsonLines) parse(block []byte, b *Batch) {
	place := uint32(0)
	for ; len(block) > 0; place++ {
		n, k := len(p.before), len(p.after)
		if n > 0 && len(block) >= n+hexDigits+k &&
			string(block[:n]) == string(p.before) && string(block[n+hexDigits:n+hexDigits+k]) == string(p.after) {
			from := n + hexDigits + k
			end := bytes.IndexByte(block[from:], '\n')
			if end < 0 {
				end = len(block) - from
			}
			end += from
			if endsObject(block[:end]) && b.addHex(block[n:n+hexDigits], place) {
				block = block[min(end+1, len(block)):]
				continue
			}
		}
		line, rest, _ := bytes.Cut(block, []byte{'\n'})
		block = rest
		p.line(line, place, b)
	}
	b.Documents = place
}

// endsObject reports whether a line ends as an object does.
func endsObject(line []byte) bool {
	for n := len(line) - 1; n >= 0; n-- {
		if c := line[n]; c == '}' {
			return true
		} else if !isSpace[c] {
			return false
		}
	}
	return false
}

// line adds the values of one line.
func (p *jsonLines) line(line []byte, place uint32, b *Batch) {
	i := skipSpace(line, 0)
	if i == len(line) {
		return
	}
	if line[i] == '{' && !endsObject(line) {
		b.addProblem(place, "the JSON document does not end on its line")
		return
	}
	digits, err := b.addDocument(line, i, place, p.path, p.elements)
	if err != nil {
		b.addProblem(place, "%w: %q", err, clip(line[i:]))
		return
	}
	if digits < 0 || digits > maxBefore {
		return
	}
	p.before = append(p.before[:0], line[:digits]...)
	end := bytes.IndexByte(line[digits:], '}') + digits + 1
	p.after = append(p.after[:0], line[digits+hexDigits:end]...)
}

// addDocument adds the values that path names in the document that starts at i.
// digits is the position of an id's digits if nothing after them matters, or -1. A
// document that is itself an id or a string, as in the results of distinct(), is the
// value.
func (b *Batch) addDocument(s []byte, i int, place uint32, path []string, elements bool) (digits int, err error) {
	digits = -1
	if s[i] != '{' || oidDigits(bytes.TrimRight(s[i:], " \t\r\n")) >= 0 {
		end, err := skipValue(s, i)
		switch {
		case err != nil:
		case skipSpace(s, end) != len(s):
			err = errors.New("text after the JSON document")
		case !endsWord[s[i]] && wordType(s[i:end]) == typeText:
			err = errJSON
		}
		if err != nil {
			return -1, err
		}
		if isQuote[s[i]] && b.addPasted(short(s[i:end]), place) {
			return -1, nil
		}
		b.addJSON(s, i, end, place, false)
		return -1, nil
	}
	found := 0
	err = findJSON(s, i, path, func(from, to int) {
		found++
		digits = b.addJSON(s, from, to, place, elements)
	})
	if err != nil {
		return -1, err
	}
	if found == 0 {
		b.Without++
	}
	if found != 1 || len(path) > 1 {
		digits = -1
	}
	return digits, nil
}

// morePrompt is what mongosh writes where it has more documents than it shows.
const morePrompt = `Type "it" for more`

// errMore is the error for the output of mongosh that ends before its documents do.
var errMore = errors.New(`the output of mongosh ends here with '` + morePrompt + `': write all documents, with .toArray() after find() or with mongoexport`)

// readJSON emits JSON documents that are not one to a line: the elements of an array, or
// documents written over several lines. All or some of them may be in an array.
func (s *Input) readJSON(in io.Reader, emit func(*Batch) error) error {
	var stream jsonStream
	documents := bufio.NewScanner(in)
	documents.Buffer(make([]byte, blockSize), maxLine)
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
			return stopped(stream.offset, fmt.Errorf("a JSON document longer than %d MiB", maxLine>>20))
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
			j.want = min(2*len(data), maxLine)
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
