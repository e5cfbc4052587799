package table

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
)

// value is a value of a column. If it is NULL, bytes and other are nil.
type value struct {
	bytes  []byte // of a text, or binary
	isText bool
	other  any // what is neither text nor binary
}

// binaryTypes are the names by which the drivers call columns of bytes.
var binaryTypes = []string{"BYTEA", "BINARY", "VARBINARY", "BLOB"}

// Scan takes a value of the driver, which is valid until the next row.
func (v *value) Scan(of any) error {
	switch of := of.(type) {
	case []byte:
		v.bytes = of
	case string:
		v.bytes, v.isText = []byte(of), true
	default:
		v.other = of
	}
	return nil
}

// maxText is the length of the longest text that may be an id with its notation, in bytes. Of
// other values that are longer, a census shows only the beginning.
const maxText = 200

// id returns the id that v is: 12 bytes that are not text, or a text in one of the notations
// that [inspect.ParseObjectID] reads. The text may be in a column of bytes.
func (v value) id() (id objectid.ID, ok bool) {
	if len(v.bytes) == objectid.Size && !v.isText {
		err := id.Scan(v.bytes)
		return id, err == nil
	}
	text := bytes.TrimRight(v.bytes, " ") // which fill a column of the type char(255)
	switch n := len(text); {
	case n == 2*objectid.Size && id.UnmarshalText(text) == nil:
		return id, true
	case n > objectid.Size && n <= maxText:
		return inspect.ParseObjectID(string(text))
	}
	return objectid.ID{}, false
}

// document returns a BSON document whose _id is v, which is no id, or an empty document if v is
// NULL or an empty text.
func (v value) document(c Column) ([]byte, error) {
	head := v.bytes[:min(len(v.bytes), maxText)]
	isText := v.isText || utf8.Valid(v.bytes) && !strings.Contains(string(head), "\x00")
	switch {
	case len(v.bytes) == 0 && v.other == nil:
		return bson.Marshal(bson.D{})
	case v.other != nil:
	case strings.EqualFold(c.Type, "uuid"):
		v.other = string(head)
		if parsed, err := uuid.ParseBytes(head); err == nil {
			v.other = bson.Binary{Subtype: bson.TypeBinaryUUID, Data: parsed[:]}
		}
	case isText:
		v.other = strings.ToValidUTF8(string(head), "\ufffd")
	default:
		v.other = head
	}
	return bson.Marshal(bson.D{{Key: "_id", Value: v.other}})
}
