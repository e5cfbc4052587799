package store

import (
	"encoding/binary"
	"fmt"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// MongoDB's limits for one document. One without a revision has [RevisionSize] bytes
// less, so that it has room for the one of its first [Store.Swap].
const (
	MaxSize  = 16 << 20 // bytes
	MaxDepth = 100      // levels of documents and arrays, the document itself included
)

// Revision is the name of the field in which a store keeps the revision of a
// document, see the package comment, and RevisionSize is the size of that field: a byte
// for its type, its name with a zero byte, and the ObjectId.
const (
	Revision     = "_rev"
	RevisionSize = 1 + len(Revision) + 1 + objectid.Size // bytes
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
		return String(string(data[4 : len(data)-1]))
	case t == bson.TypeInt32 && len(data) == 4:
		return Int(int64(int32(binary.LittleEndian.Uint32(data)))), nil
	case t == bson.TypeInt64 && len(data) == 8:
		return Int(int64(binary.LittleEndian.Uint64(data))), nil
	case t == bson.TypeDouble && len(data) == 8:
		return Float(math.Float64frombits(binary.LittleEndian.Uint64(data)))
	case t == bson.TypeNull:
		return Key{}, fmt.Errorf("%w: it is null; leave it out to have one generated", ErrKey)
	default:
		return Key{}, fmt.Errorf("%w: BSON type %v, want a number, a string or an ObjectId", ErrKey, t)
	}
}
