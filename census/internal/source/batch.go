package source

import (
	"bytes"
	"fmt"
	"strings"
	"unsafe"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
)

// Batch has the values of some consecutive documents, lines or rows of a source. The first of
// them has the place 0.
type Batch struct {
	Collection string // in an archive, with the database; else empty
	IDs        []Item
	Documents  uint32 // the number of documents, lines or rows
	Headings   uint32 // how many of Documents are the names of columns
	Without    int64  // how many documents or rows lack the field

	// Strings are the values that are strings of 24 hexadecimal digits, in a format with
	// types. Others counts them, too.
	Strings []Item

	// Others counts the values that are not ObjectIds, by type. Samples are a few of them.
	Others  map[string]int64
	Samples []Sample

	// Places are the fields or columns with ids in the first documents or rows that have no id
	// where it was asked for. Looked is the number of these documents or rows. First describes
	// the first of them.
	Places map[string]Found
	Looked int
	First  string

	// Broken counts the documents, lines or rows that could not be read and were skipped.
	// Problems describe the first of them.
	Broken   int64
	Problems []Problem

	// Docs are copies of the documents, if Options.Documents is set.
	Docs []Doc

	// Prepared belongs to the function prepare of [Input.Read]. It stays when the batch is
	// used again for other documents.
	Prepared any

	probe   *Batch          // finds the ids for Places
	matches []inspect.Match // memory that is used again

	ready chan struct{} // receives a value when the batch is prepared, if the source is read in parallel
	start int64         // position of the first byte in the source
	first bool          // whether this is the first batch of the source or of its collection
	stop  error         // why reading stopped within the batch, or nil
}

// Item is an id and its place in a batch.
type Item struct {
	ID    objectid.ID
	Place uint32
}

// Doc is a document in JSON or BSON, as the format of the source says.
type Doc struct {
	Place uint32
	Data  []byte
}

// Sample is a value that is not an ObjectId, as an example.
type Sample struct {
	Type  string // see census.Other
	Place uint32
	Text  string // the value as text, cut if it is longer than 100 bytes
}

// Problem describes a document, line or row that could not be read and was skipped.
type Problem struct {
	Place uint32
	Err   error
}

const (
	// MaxSamples is the most samples of one type in a batch.
	MaxSamples = 3

	maxProblems = 16 // the most problems in a batch

	maxText     = 100 // the most bytes of a value in a report
	maxNotation = 500 // the most bytes of an id with its notation, such as ObjectId("...")
)

// addHex adds the id in text, which must have 24 bytes. If they are not hexadecimal digits, it
// adds nothing and reports false.
func (b *Batch) addHex(text []byte, place uint32) bool {
	if !isHex[text[0]] {
		return false // cheaper than making an error
	}
	b.IDs = append(b.IDs, Item{Place: place})
	last := len(b.IDs) - 1
	if b.IDs[last].ID.UnmarshalText(text) == nil {
		return true
	}
	b.IDs = b.IDs[:last]
	return false
}

// hexDigits is the length of an id as text.
const hexDigits = 2 * objectid.Size

// addPasted adds the id in text, in any notation that [inspect.ParseObjectID] reads. If text
// is not an id, it adds nothing and reports false.
func (b *Batch) addPasted(text string, place uint32) bool {
	if len(text) < hexDigits || len(text) > maxNotation {
		return false
	}
	if len(text) == hexDigits && b.addHex(unsafe.Slice(unsafe.StringData(text), hexDigits), place) {
		return true
	}
	id, ok := inspect.ParseObjectID(text)
	if ok {
		b.IDs = append(b.IDs, Item{id, place})
	}
	return ok
}

// short returns text, or "" if text is too long for an id in any notation. The result is valid as
// long as text does not change.
func short(text []byte) string {
	if len(text) > maxNotation {
		return ""
	}
	return unsafe.String(unsafe.SliceData(text), len(text))
}

// addDocument adds the values at the path in a document. It returns the digits in doc of the only
// id if nothing in doc matters except where they are, else nil.
func (s *Input) addDocument(b *Batch, doc value, place uint32) (digits []byte, err error) {
	found, ids := 0, b.ids()
	err = doc.find(s.path, func(v value) {
		found++
		digits = b.add(v, place, s.elements)
	})
	switch {
	case err != nil:
		return nil, err
	case found == 0 && doc.typ == typeObject:
		b.Without++
	case found == 0:
		b.add(doc, place, false)
	}
	if ids == b.ids() {
		b.look(doc)
	}
	if len(s.path) > 1 || s.path[0] == anyMember || doc.typ != typeObject {
		return nil, nil
	}
	return digits, nil
}

// add adds v or, if it is an array and elements is true, its elements. It returns the 24 digits of
// an ObjectId in JSON, or nil for any other value.
func (b *Batch) add(v value, place uint32, elements bool) (digits []byte) {
	switch {
	case v.typ == typeArray && v.isJSON && strings.IndexByte("-0123456789", v.data[skipSpace(v.data, 1)]) >= 0 && b.addPasted(short(v.data), place): // bytes
	case v.typ == typeArray && elements:
		// An element that cannot be read ends only the array: the document goes on behind it.
		_ = v.each(func(_ []byte, element value) error {
			b.add(element, place, false)
			return nil
		})
	case v.typ == typeArray:
		b.addOther("array", place, v)
	case v.typ == typeString:
		b.addString(v, place)
	case v.isJSON:
		return b.addJSON(v, place)
	default:
		b.addBSON(v, place)
	}
	return nil
}

// addString adds a string.
func (b *Batch) addString(v value, place uint32) {
	t, text := "string", bytes.TrimPrefix(v.text(), []byte(`\x`)) // as PostgreSQL writes bytes
	var id objectid.ID
	if len(text) == hexDigits && id.UnmarshalText(text) == nil {
		t = HexString
		b.Strings = append(b.Strings, Item{id, place})
	}
	b.addOther(t, place, v)
}

// addOther adds a value of type t.
func (b *Batch) addOther(t string, place uint32, v value) {
	if b.Others == nil {
		b.Others = map[string]int64{}
	}
	b.Others[t]++
	if b.Others[t] <= MaxSamples {
		b.Samples = append(b.Samples, Sample{t, place, clip(v.shown())})
	}
}

// ids returns how many ids there are.
func (b *Batch) ids() int { return len(b.IDs) + len(b.Strings) }

// addProblem adds a document, line or row that cannot be read.
func (b *Batch) addProblem(place uint32, format string, args ...any) {
	b.Broken++
	if len(b.Problems) < maxProblems {
		b.Problems = append(b.Problems, Problem{place, fmt.Errorf(format, args...)})
	}
}

// clip returns text as a string, cut if it is too long for a report.
func clip(text []byte) string {
	if len(text) <= maxText {
		return string(text)
	}
	return string(text[:maxText]) + "..."
}

// reset empties b, so that it can be used again.
func (b *Batch) reset() {
	clear(b.Others)
	clear(b.Places)
	*b = Batch{
		Prepared: b.Prepared, ready: b.ready, Others: b.Others, Places: b.Places,
		IDs: b.IDs[:0], Strings: b.Strings[:0], Samples: b.Samples[:0], Problems: b.Problems[:0], Docs: b.Docs[:0],
		matches: b.matches[:0],
	}
}

// Names of types. All other types have MongoDB's names.
const (
	// HexString is a string of 24 hexadecimal digits.
	HexString = "hex-string"

	typeUUID = "uuid"          // binary data with a UUID
	typeTime = "objectid-time" // {timestamp, date}, as Java writes an ObjectId: its other bytes are lost
	typeText = "text"          // a value in a format without types
)
