package census

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Format is how a source is written.
type Format uint8

// The formats. Each may be compressed with gzip, which shows by itself.
const (
	// Auto finds out from the content.
	Auto Format = iota
	// BSON is documents one after another, as in the files of mongodump.
	BSON
	// Archive is what mongodump --archive writes.
	Archive
	// JSON is documents in MongoDB Extended JSON, canonical or relaxed: one to a
	// line, over several lines, or as one array.
	JSON
	// CSV is comma-separated values with the columns' names in the first row.
	CSV
	// List is one id per line.
	List
	// Grep is any text: every run of exactly 24 hexadecimal digits is an id.
	Grep
	formatCount
)

var formatNames = [formatCount]string{"auto", "bson", "archive", "json", "csv", "list", "grep"}

// String returns the lower-case name of f.
func (f Format) String() string {
	if f < formatCount {
		return formatNames[f]
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// MarshalText returns the name of f, or an error if f is no format.
func (f Format) MarshalText() ([]byte, error) {
	if f >= formatCount {
		return nil, fmt.Errorf("census: no such format: %d", uint8(f))
	}
	return []byte(f.String()), nil
}

// UnmarshalText reads the name of a format. On an error f is left as it was.
func (f *Format) UnmarshalText(text []byte) error {
	for i, name := range formatNames {
		if string(text) == name {
			*f = Format(i)
			return nil
		}
	}
	return fmt.Errorf("census: no such format: %q, want %s", text, strings.Join(formatNames[:], ", "))
}

var (
	// ErrFormat is wrapped by the error for a source that is in none of the
	// formats.
	ErrFormat = errors.New("census: unknown format")

	// ErrEmpty is wrapped by the error for a source without a single byte.
	ErrEmpty = errors.New("census: the source is empty")
)

// utf8Mark is what some programs write before a text in UTF-8.
const utf8Mark = "\ufeff"

// detect says in which format a source is that begins with data. column is the
// name of the column that a CSV file must have.
func detect(data []byte, column string) (Format, error) {
	switch {
	case bytes.HasPrefix(data, []byte(archiveMagic)):
		return Archive, nil
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return Auto, fmt.Errorf("%w: text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8", ErrFormat)
	case looksLikeBSON(data):
		return BSON, nil
	}
	data = bytes.TrimPrefix(data, []byte(utf8Mark))
	text := bytes.TrimLeft(data, " \t\r\n")
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		return JSON, nil
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	if _, ok := listed(line); ok {
		return List, nil
	}
	for name := range bytes.SplitSeq(bytes.TrimRight(line, "\r"), []byte{','}) {
		if strings.Trim(string(name), `"`) == column {
			return CSV, nil
		}
	}
	return Auto, fmt.Errorf("%w: neither BSON, JSON, CSV with a column %q, nor a list of ids; name it, or look for ids in any text (grep)", ErrFormat, column)
}

// looksLikeBSON reports whether data begins with a document: a length that can
// be, an element of a type that exists and, if that far is known, a zero byte at
// the document's end. No text looks like that: four of its characters, read as a
// length, are far too long.
func looksLikeBSON(data []byte) bool {
	if len(data) < 5 {
		return false
	}
	size := binary.LittleEndian.Uint32(data)
	if size < 5 || size > maxDocument {
		return false
	}
	if size == 5 {
		return data[4] == 0
	}
	_, known := bsonKinds[data[4]]
	return (known || data[4] == 0x07) && (int(size) > len(data) || data[size-1] == 0)
}

// oneToALine reports whether JSON that begins with data has whole documents on
// its lines, and one on each.
func oneToALine(data []byte) bool {
	text := bytes.TrimLeft(data, " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	end, err := skipValue(text, 0)
	if err != nil {
		end = len(text) // a line longer than data, if it is one
	}
	if bytes.IndexByte(text[:end], '\n') >= 0 {
		return false
	}
	rest := bytes.TrimLeft(text[end:], " \t\r")
	return len(rest) == 0 || rest[0] == '\n'
}
