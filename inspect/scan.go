package inspect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Found is an id in a text, and where it is.
type Found struct {
	// Line is the line on which the piece begins, counted from 1.
	Line int

	// Text is the id as it is written, or its digits if it is written as bytes. It need
	// not be valid: Scan returns any word at the position of an id, and [Inspect] says
	// whether the word is an id.
	Text string

	// Before and After are the text around the id in its piece. Of a long text
	// only the 40 characters next to the id are left, and "..." in place of the
	// others.
	Before, After string
}

// result is what [Scan] yields.
type result struct {
	Found
	err error
}

// ErrNoID is wrapped by the error of a piece of text in which no id is expected: a line
// of a log, a heading, a document without _id.
var ErrNoID = errors.New("inspect: no id")

// noID is an error that wraps [ErrNoID].
type noID string

func (e noID) Error() string { return string(e) }

func (e noID) Is(target error) bool { return target == ErrNoID }

const (
	// maxLine is the longest line that is held at once.
	maxLine = 1 << 20

	// maxDocument is the longest document that is held at once: the largest that
	// MongoDB stores has 16 MiB, and up to four times as much as Extended JSON.
	maxDocument = 64 << 20

	bufferSize = 64 << 10
)

// Scan finds ids in r, as people paste them: bare, in quotes, as ObjectId("...")
// or {"$oid":"..."}, several on a line, and in JSON documents, of which it takes the
// member _id (or else id), whether there is one on each line, or an array of them,
// or one over many lines. Documents in the notation of the MongoDB shell are read
// as well. Within a line of a log it finds what [Find] finds; ids of the other
// formats look like any other word or number there. Text in UTF-16 with a byte order
// mark, as Windows PowerShell writes it, is converted.
//
// It yields what it finds in the order of the text. For a piece that it cannot read it
// yields an error, which wraps [ErrNoID] if no id is expected there, and a Found with
// only the Line; then it goes on. After an error of r, which it yields too, it stops. It
// holds one line of up to 1 MiB or one document of up to
// 64 MiB at a time; longer ones are cut there.
func Scan(r io.Reader) iter.Seq2[Found, error] { return pieces(r, (*scanner).piece) }

// FindAll finds ids in any text, as [Find] does in each line of up to 1 MiB. The only
// error that it yields is that of r, which comes last.
func FindAll(r io.Reader) iter.Seq2[Found, error] {
	return pieces(r, func(s *scanner) []result {
		line := s.line
		s.restOfLine()
		return anywhere(line, string(s.buf))
	})
}

// pieces yields what next finds in piece after piece of r.
func pieces(r io.Reader, next func(*scanner) []result) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		size := bufferSize
		if s, ok := r.(*strings.Reader); ok { // most are short
			size = min(size, s.Len())
		}
		decoded := transform.NewReader(bufio.NewReaderSize(r, size), unicode.BOMOverride(transform.Nop))
		s := &scanner{r: bufio.NewReaderSize(decoded, size), line: 1}
		for s.err == nil {
			s.buf = s.buf[:0]
			for _, found := range next(s) {
				if !yield(found.Found, found.err) {
					return
				}
			}
		}
		if s.err == io.EOF && s.depth > 0 {
			yield(Found{Line: s.line}, errors.New("an array begins but does not end: the text is cut off"))
		}
		if s.err != io.EOF {
			yield(Found{Line: s.line}, fmt.Errorf("read: %w", s.err))
		}
	}
}

// scanner cuts a text into pieces: documents, quoted words and lines.
type scanner struct {
	r    *bufio.Reader
	line int   // of the next byte
	err  error // of r, once there is one
	buf  []byte
	one  [1]result // what most pieces have

	// depth is how many brackets are open in a text that is one array.
	depth   int
	started bool // something other than space was read

	// byLine is set once a document did not end: from there on each line is a
	// piece, so that one stray brace does not swallow the rest.
	byLine bool
}

// piece reads the next piece and returns what is in it.
func (s *scanner) piece() []result {
	line := s.line
	c, ok := s.next()
	switch {
	case !ok || strings.IndexByte(" \t\r\n,;", c) >= 0:
		return nil
	case c == ']', c == '[' && s.opens():
		s.bracket(c)
		return nil
	case c == '{' && !s.byLine:
		s.started = true
		return s.document(line)
	case (c == '"' || c == '\'') && s.quoted(c):
		return s.inText(line)
	}
	s.started = true
	s.restOfLine()
	if s.depth > 0 { // [ ObjectId("...") ] on one line
		s.depth = max(s.depth+bytes.Count(s.buf, []byte("["))-bytes.Count(s.buf, []byte("]")), 0)
	}
	return s.inText(line)
}

// opens reports whether the bracket that was just read begins an array of documents
// or of words, and is not part of a line.
func (s *scanner) opens() bool {
	following, _ := s.r.Peek(1)
	return len(following) == 0 || strings.IndexByte("{[]\"'\r\n ", following[0]) >= 0
}

// bracket counts the brackets of a text that begins with an array of documents or
// of quoted words.
func (s *scanner) bracket(c byte) {
	switch {
	case c == ']':
		s.depth = max(s.depth-1, 0)
	case s.depth > 0:
		s.depth++
	case !s.started:
		s.depth = 1
	}
	s.started = true
}

// next appends the next byte to buf and returns it.
func (s *scanner) next() (byte, bool) {
	c, err := s.r.ReadByte()
	if err != nil {
		s.err = err
		return 0, false
	}
	if c == '\n' {
		s.line++
	}
	s.buf = append(s.buf, c)
	return c, true
}

func (s *scanner) restOfLine() {
	for len(s.buf) < maxLine {
		if c, ok := s.next(); !ok || c == '\n' {
			return
		}
		part, _ := s.r.Peek(min(s.r.Buffered(), maxLine-len(s.buf)))
		if end := bytes.IndexByte(part, '\n'); end >= 0 {
			part = part[:end]
		}
		s.buf = append(s.buf, part...)
		s.r.Discard(len(part))
	}
}

// quoted reads up to the closing quote. It reports whether the quoted word is a
// piece of its own, as in a list, and not the beginning of a line.
func (s *scanner) quoted(quote byte) bool {
	for {
		c, ok := s.next()
		if !ok || c == '\n' || len(s.buf) >= maxLine {
			return true
		}
		if c != quote {
			continue
		}
		following, err := s.r.Peek(1)
		return err != nil || strings.IndexByte(",];\r\n", following[0]) >= 0
	}
}

// document reads up to the brace that closes the one that was just read.
func (s *scanner) document(line int) []result {
	depth := 1
	var quote byte
	for depth > 0 {
		c, ok := s.next()
		switch {
		case !ok || len(s.buf) >= maxDocument:
			return s.unfinished(line)
		case c == '\n':
			quote = 0 // no string continues on the next line
			if following, _ := s.r.Peek(1); len(following) == 1 && following[0] == '{' {
				return s.broken(line)
			}
		case quote != 0:
			if c == '\\' {
				s.next()
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			depth--
		}
	}
	return inDocument(line, s.buf)
}

// broken returns what is in a document that was cut off before another began.
func (s *scanner) broken(line int) []result {
	first, _, _ := bytes.Cut(s.buf, []byte("\n"))
	return refused(line, fmt.Errorf("a document begins but does not end before the next: %s", quoteShort(first)))
}

// unfinished goes back to the first line of a document that does not end, to
// read the text from there line by line.
func (s *scanner) unfinished(line int) []result {
	again := bytes.Clone(s.buf)
	s.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(again), s.r), bufferSize)
	s.line, s.byLine, s.err = line, true, nil
	return refused(line, noID("a document begins but does not end; read from here line by line"))
}
