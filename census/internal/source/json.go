package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// jsonLines parses JSON with one document per line.
//
// It has a fast path: if a line begins with the same bytes as the last line whose id was
// found by scanning, the id is at the same position.
type jsonLines struct {
	*Input
	before []byte // the bytes before the digits of that id
	after  []byte // the bytes after the digits, up to the closing brace
}

// maxBefore is the most bytes before an id for the fast path. Lines with more bytes rarely
// begin with the same ones.
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

// endsObject reports whether the last character of a line, except white space, is a brace.
func endsObject(line []byte) bool {
	for n := len(line) - 1; n >= 0; n-- {
		if c := line[n]; c == '}' {
			return true
		} else if c > ' ' {
			return false
		}
	}
	return false
}

// line adds the values of one line, and remembers the bytes around its id for the fast path.
func (p *jsonLines) line(line []byte, place uint32, b *Batch) {
	i := skipSpace(line, 0)
	if i == len(line) {
		return
	}
	if p.options.Documents {
		b.Docs = append(b.Docs, Doc{place, bytes.Clone(line[i:])})
		return
	}
	if line[i] == '{' && !endsObject(line) {
		if end, err := skipValue(line, i); err != nil || skipSpace(line, end) < len(line) {
			b.addProblem(place, "the JSON document does not end on its line")
			return
		}
	}
	digits, err := p.addText(b, line, i, place)
	if err != nil {
		b.addProblem(place, "%w: %q", err, clip(line[i:]))
		return
	}
	at := cap(line) - cap(digits) // both slices end where the block ends
	if digits == nil || at > maxBefore {
		return
	}
	p.before = append(p.before[:0], line[:at]...)
	end := bytes.IndexByte(line[at:], '}') + at + 1
	p.after = append(p.after[:0], line[at+hexDigits:end]...)
}

// addText adds the values of the document in JSON that starts at text[i]. The document may be an
// array, or a string that contains JSON. If it is itself an id or a string, as in the results of
// distinct(), addText adds that. It returns the digits as addDocument does.
func (s *Input) addText(b *Batch, text []byte, i int, place uint32) (digits []byte, err error) {
	doc := jsonValue(text[i:])
	isID := doc.typ == typeObject && oidDigits(doc.data) >= 0
	if doc.typ == typeObject && !isID {
		return s.addDocument(b, doc, place) // it may be long: do not search for its end
	}
	end, err := skipValue(text, i)
	if err != nil {
		return nil, err
	}
	doc.data = text[i:end]
	switch {
	case skipSpace(text, end) < len(text):
		return nil, errors.New("text after the JSON document")
	case isID:
		b.addJSON(doc, place)
	case doc.typ == typeString && b.addPasted(short(doc.data), place):
	case doc.typ == typeWord && !endsWord[text[i]] && !new(Batch).addPasted(short(doc.data), 0) && wordType(doc.data) == typeText:
		return nil, errJSON
	default:
		_, err = s.addDocument(b, doc, place)
	}
	return nil, err
}

// morePrompt is what mongosh writes if there are more documents than it shows.
const morePrompt = `Type "it" for more`

// errMore is the error for output of mongosh that has only some of the documents.
var errMore = errors.New(`the output of mongosh ends here with '` + morePrompt + `': write all documents, with .toArray() after find() or with mongoexport`)

// errLeftOut is for an array as console.log() of Node and print() of mongosh write it.
var errLeftOut = errors.New("the rest of an array is left out here, as '... more items' says: print it with EJSON.stringify(), or use mongoexport")

// readJSON emits JSON documents from a stream without one document per line: the elements of
// an array, or documents over several lines, or both.
func (s *Input) readJSON(in io.Reader, emit func(*Batch) error) error {
	var stream jsonStream
	documents := bufio.NewScanner(in)
	documents.Buffer(make([]byte, blockSize), maxLine)
	documents.Split(stream.split)
	for {
		b := s.batches.Get().(*Batch)
		b.first = stream.offset == 0
		for b.Documents < batchSize && documents.Scan() {
			doc := documents.Bytes()
			if s.options.Documents {
				b.Docs = append(b.Docs, Doc{b.Documents, bytes.Clone(doc)})
			} else if _, err := s.addText(b, doc, 0, b.Documents); err != nil {
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
	offset  int64 // position of the byte after the last document
	want    int   // do not search for the end of a document before there are this many bytes
}

// split is a [bufio.SplitFunc]. A token is one document. Commas and comments count as white
// space, so that a missing or doubled comma does no harm.
func (j *jsonStream) split(data []byte, atEnd bool) (advance int, doc []byte, err error) {
	if len(data) < j.want && !atEnd {
		return 0, nil, nil
	}
	i, inArray := 0, j.inArray
	for ; i < len(data); i++ {
		if c := data[i]; c == '[' && !inArray || c == ']' && inArray {
			inArray = !inArray
		} else if c == '/' {
			end := skipComment(data, i, atEnd)
			if end == i {
				break
			}
			i = end - 1
		} else if strings.IndexByte(spaces+",", c) < 0 {
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
	case bytes.HasPrefix(rest, []byte("... ")):
		err = errLeftOut
	default:
		size, err = skipValue(rest, 0)
		switch {
		// A word at the end of data may continue.
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
