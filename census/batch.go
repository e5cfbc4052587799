package census

import "fmt"

// kind is the type of a value that is not an ObjectId.
type kind uint8

// The kinds, by MongoDB's names for BSON types. What the text formats cannot
// tell is kindText.
const (
	kindText kind = iota
	kindDouble
	kindString
	kindHexString
	kindObject
	kindArray
	kindBinData
	kindUUID
	kindUndefined
	kindBool
	kindDate
	kindNull
	kindRegex
	kindDBPointer
	kindJavascript
	kindSymbol
	kindInt
	kindTimestamp
	kindLong
	kindDecimal
	kindMinKey
	kindMaxKey
	kindCount
)

var kindNames = [kindCount]string{
	"text", "double", "string", "string of 24 hex digits", "object", "array", "binData", "uuid",
	"undefined", "bool", "date", "null", "regex", "dbPointer", "javascript", "symbol", "int",
	"timestamp", "long", "decimal", "minKey", "maxKey",
}

func (k kind) String() string { return kindNames[k] }

// batch is what one stretch of a source holds. Places in it count from the
// stretch's first document.
type batch struct {
	seq        int
	collection string // of an archive
	ids        []record
	documents  uint32 // documents or lines: by how much places advance
	without    int64  // documents that lack the field
	others     [kindCount]int64
	samples    []sample
	keys       []record // of the values that are no ids; only when asked for
	keep       bool     // fill keys
	problems   []problem
}

// sample is an example of a value that is not an ObjectId.
type sample struct {
	kind  kind
	place uint32
	text  string
}

// problem is a stretch of a source that could not be read.
type problem struct {
	place uint32
	err   error
}

const (
	maxSamples  = 3   // of each kind that a report shows
	maxProblems = 10  // that a report shows
	maxText     = 100 // bytes of a value that a report shows
)

func (b *batch) reset() {
	*b = batch{
		ids: b.ids[:0], samples: b.samples[:0], keys: b.keys[:0], problems: b.problems[:0], keep: b.keep,
	}
}

// other adds a value that is not an ObjectId. value is what tells it from others
// of its kind; text is how a report shows it.
func (b *batch) other(k kind, place uint32, value, text []byte) {
	b.others[k]++
	if b.others[k] <= maxSamples {
		b.samples = append(b.samples, sample{k, place, clip(text)})
	}
	if b.keep {
		b.keys = append(b.keys, keyOf(k, value, place))
	}
}

// problem adds a stretch that cannot be read.
func (b *batch) problem(place uint32, format string, args ...any) {
	b.problems = append(b.problems, problem{place, fmt.Errorf(format, args...)})
}

// clip returns text as a string, cut to what a report can show.
func clip(text []byte) string {
	if len(text) <= maxText {
		return string(text)
	}
	return string(text[:maxText]) + "..."
}
