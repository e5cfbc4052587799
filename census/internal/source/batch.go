package source

import (
	"fmt"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
)

// Batch is the values in one stretch of a source. Places count the documents, lines
// or rows of the stretch, from 0.
type Batch struct {
	Collection string // of an archive, with its database, or empty
	IDs        []Item
	Documents  uint32 // documents, lines or rows in the stretch
	Without    int64  // documents or rows that lack the field

	// Strings are the values that are strings of 24 hexadecimal digits, in a format
	// with types. They are among Others, too.
	Strings []Item

	// Others counts the values that are not ObjectIds by type, and Samples are some of
	// them.
	Others  map[string]int64
	Samples []Sample

	// Broken counts the documents, lines or rows that could not be read and were
	// skipped; Problems are the first of them.
	Broken   int64
	Problems []Problem

	// Prepared is for the function that prepares batches, see [Input.Read]. It is kept
	// when the batch is used again.
	Prepared any

	ready chan struct{} // of a source that is read in parallel: the batch is prepared
	start int64         // position of the stretch in the source
	stop  error         // the stretch cannot be read further
}

// Item is an id and its place in a batch.
type Item struct {
	ID    objectid.ID
	Place uint32
}

// Sample is an example of a value that is not an ObjectId.
type Sample struct {
	Type  string // see [census.Other]
	Place uint32
	Text  string // the value as text, cut to 100 bytes
}

// Problem is a document, line or row that could not be read and was skipped.
type Problem struct {
	Place uint32
	Err   error
}

const (
	// MaxSamples is how many samples of each type a batch has.
	MaxSamples = 3

	maxProblems = 16 // in a batch

	maxText     = 100 // bytes of a value in a report
	maxNotation = 200 // bytes of an id with a notation around it
)

// addHex adds the id that text, 24 hexadecimal digits, spells. It reports false,
// and adds nothing, if text is something else.
func (b *Batch) addHex(text []byte, place uint32) bool {
	if !isHex[text[0]] {
		return false // without the cost of an error
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

// addPasted adds the id that text consists of, in any notation that package paste
// reads. It reports false, and adds nothing, if text is something else.
func (b *Batch) addPasted(text string, place uint32) bool {
	if len(text) < hexDigits || len(text) > maxNotation {
		return false
	}
	id, ok := inspect.ParseObjectID(text)
	if ok {
		b.IDs = append(b.IDs, Item{id, place})
	}
	return ok
}

// short returns text if it is short enough for an id with a notation around it, or
// else "".
func short(text []byte) string {
	if len(text) > maxNotation {
		return ""
	}
	return string(text)
}

// addString adds a value that is a string. value is how a report shows it.
func (b *Batch) addString(text, value []byte, place uint32) {
	t := "string"
	var id objectid.ID
	if len(text) == hexDigits && id.UnmarshalText(text) == nil {
		t = HexString
		b.Strings = append(b.Strings, Item{id, place})
	}
	b.addOther(t, place, value)
}

// addOther adds a value that is not an ObjectId. text is how a report shows it.
func (b *Batch) addOther(t string, place uint32, text []byte) {
	if b.Others == nil {
		b.Others = map[string]int64{}
	}
	b.Others[t]++
	if b.Others[t] <= MaxSamples {
		b.Samples = append(b.Samples, Sample{t, place, clip(text)})
	}
}

// addProblem adds a document, line or row that cannot be read.
func (b *Batch) addProblem(place uint32, format string, args ...any) {
	b.Broken++
	if len(b.Problems) < maxProblems {
		b.Problems = append(b.Problems, Problem{place, fmt.Errorf(format, args...)})
	}
}

// clip returns text as a string, cut to what a report can show.
func clip(text []byte) string {
	if len(text) <= maxText {
		return string(text)
	}
	return string(text[:maxText]) + "..."
}

// reset empties b, for another stretch.
func (b *Batch) reset() {
	clear(b.Others)
	*b = Batch{
		Prepared: b.Prepared, ready: b.ready, Others: b.Others,
		IDs: b.IDs[:0], Strings: b.Strings[:0], Samples: b.Samples[:0], Problems: b.Problems[:0],
	}
}

// The types of values that are not ObjectIds have MongoDB's names, but for these.
const (
	// HexString is a string of 24 hexadecimal digits.
	HexString = "hex-string"

	typeUUID = "uuid" // binary data that is one
	typeText = "text" // where the format knows no types
)
