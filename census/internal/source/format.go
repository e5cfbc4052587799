package source

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/unpack"
)

// The names of the formats, see census.Format.
const (
	Auto    = "auto"
	BSON    = "bson"
	Archive = "archive"
	JSON    = "json"
	CSV     = "csv"
	List    = "list"
	Grep    = "grep"
)

// reader describes how a format is detected and read.
type reader struct {
	format  string
	unit    string   // what places count
	endings []string // of the names of files in this format

	// sign reports whether data looks like the beginning of a source in this format. column
	// is the name of the column that a CSV file must have. If sign is nil, the format is
	// never detected.
	sign func(data []byte, column string) bool

	// A format that can be cut into blocks has cut, which finds the ends of blocks, and
	// parse, which returns a parser for them. Several goroutines then parse at once. Any
	// other format has read.
	parse func(*Input) blockParser
	cut   cutter
	read  func(s *Input, in io.Reader, emit func(*Batch) error) error
}

// readers has all formats. The first whose sign returns true is the format of a source.
var readers = []reader{
	{format: Auto},
	{
		format: BSON, unit: "document", endings: []string{".bson"},
		sign:  func(data []byte, _ string) bool { return looksLikeBSON(data) },
		parse: func(s *Input) blockParser { return s.parseDocuments }, cut: betweenDocuments,
	},
	{
		format: Archive, unit: "document",
		sign: func(data []byte, _ string) bool { return bytes.HasPrefix(data, []byte(archiveMagic)) },
		read: (*Input).readArchive,
	},
	{
		format: JSON, unit: "document", endings: []string{".json", ".jsonl", ".ndjson"},
		sign: func(data []byte, _ string) bool {
			text := textOf(data)
			text = bytes.TrimPrefix(text[skipSpace(text, 0):], []byte{'"'}) // a string may contain JSON
			return bytes.IndexAny(text, "{[") == 0 && !isLog(text)
		},
		read: (*Input).readJSON,
	},
	{
		format: CSV, unit: "row",
		sign: func(data []byte, column string) bool {
			_, ok := findColumn(textOf(data), column)
			return ok
		},
		read: (*Input).readCSV,
	},
	{
		format: List, unit: "line",
		sign:  func(data []byte, _ string) bool { return new(Batch).addPasted(short(firstLine(data)), 0) },
		parse: func(*Input) blockParser { return parseList }, cut: betweenLines,
	},
	{format: Grep, unit: "line", parse: textParser, cut: betweenIDs},
}

// jsonLineReader is for JSON with one document per line.
var jsonLineReader = reader{
	format: JSON, unit: "line",
	parse: func(s *Input) blockParser { return (&jsonLines{Input: s}).parse }, cut: betweenLines,
}

// Formats returns the names of all formats, [Auto] first.
func Formats() []string { return each.Of(readers, func(r reader) string { return r.format }) }

var (
	// ErrFormat is wrapped by the error for a source whose format is not recognized.
	ErrFormat = unpack.ErrFormat

	// ErrEmpty is wrapped by the error for a source of 0 bytes.
	ErrEmpty = unpack.ErrEmpty
)

// utf8Mark is the byte order mark that some programs write before a text in UTF-8.
const utf8Mark = "\ufeff"

// textOf returns data without a byte order mark and white space at its beginning.
func textOf(data []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(data, []byte(utf8Mark)), spaces)
}

func firstLine(data []byte) []byte {
	line, _, _ := bytes.Cut(textOf(data), []byte{'\n'})
	return line
}

// detect returns the format of a source that begins with data.
func (o *Options) detect(data []byte) (string, error) {
	if err := o.Known(data, looksLikeBSON(data)); err != nil {
		return Auto, err
	}
	for _, r := range readers {
		if r.sign != nil && r.sign(data, o.Column) {
			return r.format, nil
		}
	}
	if o.Refuse(data) != nil {
		return Auto, fmt.Errorf("%w: neither text nor BSON: the data may be encrypted or damaged", ErrFormat)
	}
	return Auto, fmt.Errorf("%w: not BSON, JSON, CSV with a column %q or a list of ids%s%s", ErrFormat, o.Column, cmp.Or(columnHint(textOf(data)), textHint(data)), encodingHint(firstLine(data)))
}

// textHint returns the end of an error message that says how to read text that has ids, or "".
func textHint(text []byte) string {
	if len(inspect.AppendObjectIDs(nil, string(text))) > 0 {
		return "; the text has ids: write --grep"
	}
	return ""
}

// encodingHint returns the end of an error message that says how to convert a text if its
// first row is not UTF-8, or "". A row with control characters is not text.
func encodingHint(row []byte) string {
	if utf8.Valid(row) || bytes.ContainsFunc(row, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' }) {
		return ""
	}
	return "; the text is not UTF-8, convert it first, for example: iconv -f GB18030 -t UTF-8"
}

// looksLikeBSON reports whether data begins like a document: with a possible length, then an
// element of an existing type. If data has the whole document, its last byte must be zero.
// Text never looks like BSON: its first four characters are a length that is far too large.
func looksLikeBSON(data []byte) bool {
	size, err := documentSize(data)
	if err != nil || size == 0 || len(data) < 5 {
		return false
	}
	_, known := bsonTypes[data[4]]
	return size == 5 || known
}

// isLog reports whether text begins as a line of a log: with a time, a level or the like in
// brackets, before other text.
func isLog(text []byte) bool {
	line := firstLine(text)
	for len(line) > 0 && line[0] == '[' {
		end := bytes.IndexByte(line, ']')
		if end < 0 || bytes.LastIndexAny(line[:end], "[{\"'") > 0 {
			return false
		}
		line = bytes.TrimSpace(line[end+1:])
	}
	return len(line) > 0 && bytes.IndexAny(line, ",]{}/#;)") != 0
}

// oneToALine reports whether JSON that begins with data has one document per line. It looks
// at the first document.
func oneToALine(data []byte) bool {
	text := bytes.TrimLeft(data, spaces)
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	end, err := skipValue(text, 0)
	if err != nil {
		end = len(text) // the document is longer than data
	}
	if bytes.IndexByte(text[:end], '\n') >= 0 {
		return false
	}
	rest := bytes.TrimLeft(text[end:], " \t\r")
	return len(rest) == 0 || rest[0] == '\n'
}

// formatByName returns the format that the ending of a file's name stands for, or "".
func formatByName(name string) string {
	ending := path.Ext(unpack.Plain(name))
	for _, r := range readers {
		if slices.Contains(r.endings, ending) {
			return r.format
		}
	}
	return ""
}
