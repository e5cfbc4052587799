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

	"github.com/oidkit/oid/internal/pattern"
)

// Found is an id that [Scan] or [FindAll] found in a text.
type Found struct {
	// Line is the line of the text, counted from 1. If the id is part of a document, it is
	// the first line of the document.
	Line int

	// Text is the id as it is written in the text. If the text does not have the digits of the id
	// in a row, such as a list of its bytes, Text is the id in its usual form. Scan also returns words that only look like
	// ids; [Inspect] refuses them.
	Text string

	// Before and After are the text before and after the id in its line or document. Each
	// has at most the 40 characters next to the id; "..." replaces the rest of a longer text.
	Before, After string
}

// result is one pair that [Scan] yields.
type result struct {
	Found
	err error
}

// ErrNoID is wrapped by errors of [Scan] about text in which no id is expected: a line of a
// log, a heading, a document without _id.
var ErrNoID = errors.New("inspect: no id")

// noID is an error that wraps [ErrNoID].
type noID string

func (e noID) Error() string { return string(e) }

func (e noID) Is(target error) bool { return target == ErrNoID }

const (
	// maxLine is the length of the longest line that is held in memory.
	maxLine = 1 << 20

	// maxDocument is the length of the longest document that is held in memory. MongoDB
	// stores documents of up to 16 MiB, which take up to four times as much in Extended JSON.
	maxDocument = 64 << 20

	bufferSize = 64 << 10
)

// Scan finds ids in text that people paste. It reads ids bare, in quotes, or in a notation such
// as ObjectId("...") or {"$oid":"..."}, one or several on a line. From a document, in JSON or in
// the notation of the MongoDB shell, it reads only the member _id or, if there is no _id, the
// member id. Documents may be one per line, in an array, or spread over many lines. In other
// text, such as a log, Scan finds the ids that [Find] finds. It converts text in UTF-16 with a
// byte order mark, as Windows PowerShell writes it.
//
// Scan yields the ids in the order of the text. For a line or document that it cannot read, it
// yields an error, with a Found that has the Line, and continues. If the line or document was
// read in full, Found has its Text. If no id is expected in
// that line or document, the error wraps [ErrNoID]. An error of r is yielded last.
//
// Scan holds one line of up to 1 MiB or one document of up to 64 MiB in memory. It reads a
// longer line as several lines. For a longer document it yields an error, and then reads the
// document line by line.
func Scan(r io.Reader) iter.Seq2[Found, error] { return pieces(r, (*scanner).piece) }

// FindAll yields the ids that [Find] finds in each line of r. It reads a line of more than
// 1 MiB as several lines. If reading r fails, FindAll yields that error last. It yields no
// other errors.
func FindAll(r io.Reader) iter.Seq2[Found, error] {
	return pieces(r, func(s *scanner) []result {
		line := s.line
		s.restOfLine()
		return anywhere(line, string(s.buf))
	})
}

// pieces calls next for each piece of r, and yields the results.
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
			yield(Found{Line: s.line}, errors.New("inspect: an array begins but does not end: the text is cut off"))
		}
		if s.err != io.EOF {
			yield(Found{Line: s.line}, fmt.Errorf("inspect: read: %w", s.err))
		}
	}
}

// scanner cuts a text into pieces: documents, quoted words and lines.
type scanner struct {
	r    *bufio.Reader
	line int   // of the next byte
	err  error // of r, once there is one
	buf  []byte
	one  [1]result // memory for the only result of a piece, as most pieces have one

	// depth is the number of open brackets if the text is an array.
	depth   int
	started bool // something other than space was read

	// byLine is set when a document does not end: from its first line on, each line is a
	// piece, so that one stray brace does not swallow the rest of the text.
	byLine bool
}

// piece reads the next piece and returns the ids in it.
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
	for s.err == nil && len(s.buf) < longestNotation && openList.Get().Match(s.buf) {
		s.restOfLine()
	}
	if s.depth > 0 { // [ ObjectId("...") ] on one line
		s.depth = max(s.depth+bytes.Count(s.buf, []byte("["))-bytes.Count(s.buf, []byte("]")), 0)
	}
	return s.inText(line)
}

// openList matches a line that ends within a list of bytes as Node prints it over several lines.
var openList = pattern.Of(`Array[^\[\]]*\[(?:[^\]]*,)?\s*$`)

// opens reports whether the bracket that was just read begins an array of documents or of
// words. Otherwise it is part of a line.
func (s *scanner) opens() bool {
	following, _ := s.r.Peek(1)
	return len(following) == 0 || strings.IndexByte("{[]\"'\r\n ", following[0]) >= 0
}

// bracket counts the open brackets of a text that is an array of documents or of quoted words.
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
		c, ok := s.next()
		if n := len(s.buf); c == '\n' && Continues(string(s.buf[max(n-2*hexSize, 0):])) {
			continue
		}
		if !ok || c == '\n' {
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

// quoted reads up to the closing quote. It reports whether the quoted word is a piece of its
// own, as in a list. Otherwise it is the beginning of a line.
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

// document reads the rest of a document, whose opening brace was just read.
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

// broken returns the error of a document that does not end before the next one begins.
func (s *scanner) broken(line int) []result {
	first, _, _ := bytes.Cut(s.buf, []byte("\n"))
	return refused(line, "", fmt.Errorf("a document begins but does not end before the next: %s", quoteShort(string(first))))
}

// unfinished returns the error of a document that does not end. It goes back to the first line
// of the document, to read the text from there line by line.
func (s *scanner) unfinished(line int) []result {
	again := bytes.Clone(s.buf)
	s.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(again), s.r), bufferSize)
	s.line, s.byLine, s.err = line, true, nil
	return refused(line, "", noID("a document begins but does not end; reading line by line from here"))
}
