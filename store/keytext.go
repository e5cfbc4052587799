package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

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
		return ID(id), nil
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
