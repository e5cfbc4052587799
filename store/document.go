package store

import (
	"encoding/binary"
	"fmt"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// MongoDB's limits for one document.
const (
	MaxSize  = 16 << 20 // bytes
	MaxDepth = 100      // levels of documents and arrays, the document itself included
)

// KeyOf returns the key of a document. The error wraps [ErrKey] if doc has no
// _id or one that cannot be a key: a null, a document, a decimal, a date. Such
// documents come from elsewhere, since no engine stores one.
func KeyOf(doc bson.Raw) (Key, error) {
	v, err := doc.LookupErr("_id")
	if err != nil {
		return Key{}, fmt.Errorf("%w: there is none", ErrKey)
	}
	return keyOf(byte(v.Type), v.Value)
}

func keyOf(typ byte, data []byte) (Key, error) {
	switch t := bson.Type(typ); {
	case t == bson.TypeObjectID && len(data) == objectid.Size:
		return ID(objectid.ID(data)), nil
	case t == bson.TypeString && len(data) > 4:
		return Text(string(data[4 : len(data)-1]))
	case t == bson.TypeInt32 && len(data) == 4:
		return Int(int64(int32(binary.LittleEndian.Uint32(data)))), nil
	case t == bson.TypeInt64 && len(data) == 8:
		return Int(int64(binary.LittleEndian.Uint64(data))), nil
	case t == bson.TypeDouble && len(data) == 8:
		return Float(math.Float64frombits(binary.LittleEndian.Uint64(data)))
	case t == bson.TypeNull:
		return Key{}, fmt.Errorf("%w: it is null; leave it out to have one made", ErrKey)
	default:
		return Key{}, fmt.Errorf("%w: BSON type %v, want a number, a string or an ObjectId", ErrKey, t)
	}
}

// Prepare turns doc, which is anything that [bson.Marshal] takes, into the bytes
// to store and their key; it is what engines do first. The _id is put in front.
// A document without one gets newID's, or [objectid.New]'s if newID is nil. The
// errors wrap [ErrDocument] or [ErrKey]. The bytes may be those of doc.
func Prepare(doc any, newID func() objectid.ID) (Key, bson.Raw, error) {
	raw, id, err := marshal(doc)
	if err != nil {
		return Key{}, nil, err
	}
	if id.typ == 0 {
		if newID == nil {
			newID = objectid.New
		}
		made := newID()
		key := ID(made)
		if raw, err = withFirst(raw, append([]byte("\x07_id\x00"), made[:]...), nil); err != nil {
			return Key{}, nil, err
		}
		return key, raw, nil
	}
	return keyed(raw, id)
}

// PrepareReplacement is [Prepare] for a document that must have an _id; one that
// has none gives an error that wraps [ErrKey].
func PrepareReplacement(doc any) (Key, bson.Raw, error) {
	raw, id, err := marshal(doc)
	if err != nil {
		return Key{}, nil, err
	}
	if id.typ == 0 {
		return Key{}, nil, fmt.Errorf("%w: there is none, so nothing says what to replace", ErrKey)
	}
	return keyed(raw, id)
}

// keyed returns the key of a document that has one, and the document with its
// _id in front.
func keyed(raw bson.Raw, id element) (Key, bson.Raw, error) {
	key, err := keyOf(id.typ, raw[id.value:id.end])
	if err != nil {
		return Key{}, nil, err
	}
	if id.start != 4 {
		if raw, err = withFirst(raw[:id.start:id.start], raw[id.start:id.end], raw[id.end:]); err != nil {
			return Key{}, nil, err
		}
	}
	return key, raw, nil
}

// withFirst returns the document head+tail with the element first in front.
func withFirst(head, first, tail []byte) (bson.Raw, error) {
	size := len(head) + len(first) + len(tail)
	if size > MaxSize {
		return nil, tooLarge(size)
	}
	raw := make([]byte, 0, size)
	raw = append(raw, 0, 0, 0, 0)
	raw = append(raw, first...)
	raw = append(raw, head[4:]...)
	raw = append(raw, tail...)
	binary.LittleEndian.PutUint32(raw, uint32(size))
	return raw, nil
}

// marshal returns doc as checked BSON, and where its _id is.
func marshal(doc any) (bson.Raw, element, error) {
	raw, ok := doc.(bson.Raw)
	if !ok {
		var err error
		if raw, err = bson.Marshal(doc); err != nil {
			return nil, element{}, fmt.Errorf("%w: %w", ErrDocument, err)
		}
	}
	id, err := check(raw)
	return raw, id, err
}

func tooLarge(size int) error {
	return fmt.Errorf("%w: %d bytes, want %d (16 MiB) at most", ErrDocument, size, MaxSize)
}
