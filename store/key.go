package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// Key is the _id of a document: a number, a string or an ObjectId. Keys are
// ordered as in MongoDB: first numbers, by value; then strings, byte by byte; then
// ObjectIds, byte by byte. Numbers with the same value are the same key, whatever
// their BSON types: 1 and 1.0, for example.
//
// Create keys with [IDKey], [IntKey], [FloatKey], [StringKey], [KeyOf] or [ParseKey]. The
// zero Key is not a number, a string or an ObjectId: it means "no key" or "no bound". Keys
// can be compared with == and used as map keys.
type Key struct {
	kind kind
	id   objectid.ID
	text string
	// num is the number if kind is integer or real. A number that an int64 can hold is
	// always an integer, so that equal numbers are equal keys; for a real, num holds
	// the bits of the float64.
	num uint64
}

type kind uint8

// The kinds are in the order of their keys. integer and real are the exception: numbers of
// both kinds are ordered by value.
const (
	none kind = iota
	integer
	real
	text
	oid
)

// IDKey returns the key of a document whose _id is the ObjectId id. For the zero ID it
// returns the smallest ObjectId, not the zero Key.
func IDKey(id objectid.ID) Key { return Key{kind: oid, id: id} }

// IntKey returns the key of a document whose _id is the number n.
func IntKey(n int64) Key { return Key{kind: integer, num: uint64(n)} }

// FloatKey returns the key of a document whose _id is the number f. If f is NaN, the
// error wraps [ErrKey].
func FloatKey(f float64) (Key, error) {
	switch {
	case math.IsNaN(f):
		return Key{}, fmt.Errorf("%w: NaN cannot be a key", ErrKey)
	case f >= -1<<63 && f < 1<<63 && f == math.Trunc(f):
		return IntKey(int64(f)), nil
	}
	return Key{kind: real, num: math.Float64bits(f)}, nil
}

// StringKey returns the key of a document whose _id is the string s. If s is not valid UTF-8,
// the error wraps [ErrKey].
func StringKey(s string) (Key, error) {
	if !utf8.ValidString(s) {
		return Key{}, fmt.Errorf("%w: %q is not UTF-8", ErrKey, s)
	}
	return Key{kind: text, text: s}, nil
}

// IsZero reports whether k is the zero Key, which means "no key" or "no bound".
func (k Key) IsZero() bool { return k.kind == none }

// ID returns k as an ObjectId; ok is false if k is not an ObjectId.
func (k Key) ID() (id objectid.ID, ok bool) { return k.id, k.kind == oid }

// Value returns k as a Go value: an int64, a float64, a string or an [objectid.ID]. It
// returns nil for the zero Key.
func (k Key) Value() any {
	switch k.kind {
	case integer:
		return int64(k.num)
	case real:
		return math.Float64frombits(k.num)
	case text:
		return k.text
	case oid:
		return k.id
	}
	return nil
}

// Compare returns -1 if k is smaller than other, 0 if they are equal and +1 if k is
// greater. The zero Key is smaller than all other keys.
func (k Key) Compare(other Key) int {
	switch a, b := k.kind.rank(), other.kind.rank(); {
	case a != b:
		return cmp.Compare(a, b)
	case k.kind == text:
		return strings.Compare(k.text, other.text)
	case k.kind == oid:
		return k.id.Compare(other.id)
	case k.kind == none:
		return 0
	case k.kind == integer && other.kind == integer:
		return cmp.Compare(int64(k.num), int64(other.num))
	}
	// Compare by value and without rounding: int64 cannot hold every float64, nor
	// float64 every int64.
	return k.number().Cmp(other.number())
}

func (k kind) rank() kind {
	if k == real {
		return integer
	}
	return k
}

// number returns the value of a number. A big.Float holds every int64 and every float64
// exactly.
func (k Key) number() *big.Float {
	if k.kind == integer {
		return new(big.Float).SetInt64(int64(k.num))
	}
	return big.NewFloat(math.Float64frombits(k.num))
}

// String returns the text form of k, which [ParseKey] reads: 24 hexadecimal digits for an
// ObjectId, and relaxed Extended JSON for other keys, such as 7, "alice" with its quotes, or
// {"$numberDouble":"Infinity"}. It returns an empty string for the zero Key.
func (k Key) String() string {
	switch k.kind {
	case none:
		return ""
	case oid:
		return k.id.String()
	case integer:
		return strconv.FormatInt(int64(k.num), 10)
	case text:
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(k.text) // a string cannot fail
		return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	}
	f := math.Float64frombits(k.num)
	switch {
	case math.IsInf(f, 1):
		return `{"$numberDouble":"Infinity"}`
	case math.IsInf(f, -1):
		return `{"$numberDouble":"-Infinity"}`
	}
	return strconv.FormatFloat(f, 'g', -1, 64) // has a point or an exponent: f is no int64
}

// ParseKey parses the text form of a key, see [Key.String]: 24 hexadecimal digits for an
// ObjectId, or the Extended JSON of a number, a string or an ObjectId. A string must be in
// quotes, so that a mistyped ObjectId is not read as a string. For any other text the error
// wraps [ErrKey].
func ParseKey(s string) (Key, error) {
	if id, err := objectid.Parse(s); err == nil {
		return IDKey(id), nil
	}
	var doc struct {
		ID bson.RawValue `bson:"_id"`
	}
	line := []byte(`{"_id":` + s + `}`)
	// json.Valid comes first because UnmarshalExtJSON also accepts text that is not JSON.
	if !json.Valid([]byte(s)) || bson.UnmarshalExtJSON(line, false, &doc) != nil {
		return Key{}, fmt.Errorf(`%w: %q, want 24 hexadecimal digits, a number, or a string in quotes as in '"name"'`, ErrKey, s)
	}
	return keyOf(byte(doc.ID.Type), doc.ID.Value)
}

// MarshalBSONValue implements [bson.ValueMarshaler]. A number becomes a BSON int64 or
// double, and the zero Key becomes null. The error is always nil.
func (k Key) MarshalBSONValue() (typ byte, data []byte, err error) {
	if k.kind == none {
		return byte(bson.TypeNull), nil, nil
	}
	if k.kind == oid { // the zero ID would marshal as null
		return byte(bson.TypeObjectID), k.id[:], nil
	}
	t, data, err := bson.MarshalValue(k.Value())
	return byte(t), data, err
}

// UnmarshalBSONValue implements [bson.ValueUnmarshaler]. It accepts the BSON values that
// [KeyOf] accepts as an _id, and null, which sets k to the zero Key. For other values the
// error wraps [ErrKey].
func (k *Key) UnmarshalBSONValue(typ byte, data []byte) error {
	if typ == byte(bson.TypeNull) {
		*k = Key{}
		return nil
	}
	key, err := keyOf(typ, data)
	if err != nil {
		return err
	}
	*k = key
	return nil
}
