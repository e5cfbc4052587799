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
// ordered as MongoDB orders them: numbers by value, then strings byte by byte,
// then ObjectIds byte by byte. Numbers are equal if their values are, whatever
// their BSON types: 1 and 1.0 are one key.
//
// [IDKey], [IntKey], [FloatKey], [StringKey], [KeyOf] and [ParseKey] return keys. The zero
// Key is none of these: it means "no key" or "no bound", see [Key.IsZero]. A Key
// is a plain value: it can be compared with == and used as a map key.
type Key struct {
	kind kind
	id   objectid.ID
	text string
	// num is an int64 if kind is integer, and the bits of a float64 that no
	// int64 equals if kind is real: one number has one form.
	num uint64
}

type kind uint8

// The kinds stand in the order of their keys, but for the two of numbers.
const (
	none kind = iota
	integer
	real
	text
	oid
)

// IDKey returns the key of a document whose _id is an ObjectId. The zero ID gives
// the smallest ObjectId and not the zero Key.
func IDKey(id objectid.ID) Key { return Key{kind: oid, id: id} }

// IntKey returns the key of a document whose _id is the number n.
func IntKey(n int64) Key { return Key{kind: integer, num: uint64(n)} }

// FloatKey returns the key of a document whose _id is the number f. Not a number
// gives an error that wraps [ErrKey].
func FloatKey(f float64) (Key, error) {
	switch {
	case math.IsNaN(f):
		return Key{}, fmt.Errorf("%w: not a number (NaN)", ErrKey)
	case f >= -1<<63 && f < 1<<63 && f == math.Trunc(f):
		return IntKey(int64(f)), nil
	}
	return Key{kind: real, num: math.Float64bits(f)}, nil
}

// StringKey returns the key of a document whose _id is the string s. A string that
// is not UTF-8 gives an error that wraps [ErrKey].
func StringKey(s string) (Key, error) {
	if !utf8.ValidString(s) {
		return Key{}, fmt.Errorf("%w: %q is not UTF-8", ErrKey, s)
	}
	return Key{kind: text, text: s}, nil
}

// IsZero reports whether k is the zero Key, which means "no key" or "no bound".
func (k Key) IsZero() bool { return k.kind == none }

// ID returns the ObjectId that k is; ok reports whether it is one.
func (k Key) ID() (id objectid.ID, ok bool) { return k.id, k.kind == oid }

// Value returns k as a Go value: an int64, a float64, a string or an
// [objectid.ID], and nil for the zero Key.
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

// Compare returns -1 if k is smaller than other, 0 if they are equal and +1 if
// it is greater. The zero Key is smaller than every other.
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
	// By value, without rounding: neither type can hold all numbers of the other.
	return k.number().Cmp(other.number())
}

func (k kind) rank() kind {
	if k == real {
		return integer
	}
	return k
}

// number returns a number as a float that holds all numbers of both types.
func (k Key) number() *big.Float {
	if k.kind == integer {
		return new(big.Float).SetInt64(int64(k.num))
	}
	return big.NewFloat(math.Float64frombits(k.num))
}

// String returns the 24 digits of an ObjectId, and the relaxed Extended JSON of
// other keys: a number as 7 or {"$numberDouble":"Infinity"}, a string in quotes.
// The zero Key gives an empty string. [ParseKey] reads it back.
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

// ParseKey reads what [Key.String] writes: 24 hexadecimal digits for an
// ObjectId, or the Extended JSON of a number, a string or an ObjectId. Other
// text gives an error that wraps [ErrKey]; a string needs its quotes, so that a
// mistyped id does not become one.
func ParseKey(s string) (Key, error) {
	if id, err := objectid.Parse(s); err == nil {
		return IDKey(id), nil
	}
	var doc struct {
		ID bson.RawValue `bson:"_id"`
	}
	line := []byte(`{"_id":` + s + `}`)
	// The JSON library looks first because the other takes more than JSON.
	if !json.Valid([]byte(s)) || bson.UnmarshalExtJSON(line, false, &doc) != nil {
		return Key{}, fmt.Errorf(`%w: %q, want 24 hexadecimal digits, a number, or a string in quotes as in '"name"'`, ErrKey, s)
	}
	return keyOf(byte(doc.ID.Type), doc.ID.Value)
}

// MarshalBSONValue returns k as BSON: the 64-bit types of numbers, a string, an
// ObjectId, or null for the zero Key. It implements [bson.ValueMarshaler]; the
// error is always nil.
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

// UnmarshalBSONValue reads what [KeyOf] takes as an _id, or null, which sets the
// zero Key. It implements [bson.ValueUnmarshaler]. The error wraps [ErrKey].
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
