package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/bsonwalk"
	"github.com/oidkit/oid/objectid"
)

// maxDocument is the size of the largest document that MongoDB writes, in bytes: 16 MiB from
// the user and 16 KiB from the server.
const maxDocument = 16<<20 + 16<<10

// errBSON is wrapped by the errors about the structure of a document.
var errBSON = errors.New("census: not a BSON document")

// parseDocuments is a blockParser for BSON.
func (s *Input) parseDocuments(block []byte, b *Batch) {
	for pos := 0; pos < len(block); {
		pos += s.addFirst(block[pos:], b)
		if pos == len(block) {
			return
		}
		size := int(binary.LittleEndian.Uint32(block[pos:]))
		if s.options.Documents {
			b.Docs = append(b.Docs, Doc{b.Documents, bytes.Clone(block[pos : pos+size])})
		} else if err := b.addBSON(block[pos:pos+size], b.Documents, s.path, s.elements); err != nil {
			b.stop = stopped(b.start+int64(pos), err)
			return
		}
		b.Documents++
		pos += size
	}
}

// addFirst is the fast path for documents that begin with an ObjectId as _id, as most do. It
// looks only at their first 21 bytes and at the last one. It adds the ids of all such documents
// at the beginning of data and returns the length of these documents.
func (s *Input) addFirst(data []byte, b *Batch) (passed int) {
	const idOfTypeObjectID = 0x07 | '_'<<8 | 'i'<<16 | 'd'<<24
	if len(s.path) != 1 || s.path[0] != "_id" || s.options.Documents {
		return 0
	}
	pos, place, ids := 0, b.Documents, b.IDs
	for len(data)-pos >= 22 {
		d := data[pos:]
		size := int(int32(binary.LittleEndian.Uint32(d)))
		if size < 22 || size > len(d) || binary.LittleEndian.Uint32(d[4:]) != idOfTypeObjectID || d[8] != 0 || d[size-1] != 0 {
			break
		}
		ids = append(ids, Item{objectid.ID(d[9 : 9+objectid.Size]), place})
		place++
		pos += size
	}
	b.Documents, b.IDs = place, ids
	return pos
}

// betweenDocuments is a cutter for BSON documents.
func betweenDocuments(data []byte, atEnd bool) (end int, err error) {
	for end < len(data) {
		size, err := documentSize(data[end:])
		switch {
		case err != nil:
			return end, err
		case size > 0 && size <= len(data)-end:
			end += size
		case atEnd:
			return end, cutDocument(data[end:])
		default:
			return end, nil
		}
	}
	return end, nil
}

// documentSize returns the size of the document at the beginning of data, or 0 if data has
// less than the four bytes of the size. It returns an error if the size is impossible, or if
// data has the whole document and its last byte is wrong.
func documentSize(data []byte) (size int, err error) {
	if len(data) < 4 {
		return 0, nil
	}
	n := binary.LittleEndian.Uint32(data)
	if int32(n) < 5 || n > maxDocument {
		return 0, fmt.Errorf("%w: its length is %d bytes, want 5 to %d", errBSON, int32(n), maxDocument)
	}
	if int(n) <= len(data) && data[n-1] != 0 {
		return 0, fmt.Errorf("%w: no zero byte at its end, after %d bytes", errBSON, n)
	}
	return int(n), nil
}

// cutDocument returns the error for a source that ends within a document. data is the part
// that is there.
func cutDocument(data []byte) error {
	if len(data) < 4 {
		return fmt.Errorf("the input ends within a document's length: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("the input ends within a document: %d of its %d bytes are there: %w", len(data), binary.LittleEndian.Uint32(data), io.ErrUnexpectedEOF)
}

// addBSON adds the values at path in doc. If elements is true, it adds the elements of an array
// instead of the array.
func (b *Batch) addBSON(doc []byte, place uint32, path []string, elements bool) error {
	found, ids := 0, len(b.IDs)+len(b.Strings)
	err := findBSON(doc, path, func(typ byte, value []byte) {
		found++
		switch {
		case typ == typeJSON:
			b.addJSON(value, 0, len(value), place, elements)
			return
		case typ != 0x04 || !elements:
			b.bsonValue(typ, value, place)
			return
		}
		// The end of the array is known, so an unreadable element is no reason to skip
		// the document.
		for w := bsonwalk.New(value); w.Next(); {
			b.bsonValue(w.Type(), w.Value(), place)
		}
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errBSON, err)
	}
	if found == 0 {
		b.Without++
	}
	if ids == len(b.IDs)+len(b.Strings) {
		b.lookBSON(doc)
	}
	return nil
}

// typeJSON is the type of a value in a string that contains JSON. BSON has no such type.
const typeJSON = 0x00

// foundBSON is called with a value at the path that was asked for.
type foundBSON func(typ byte, value []byte)

// findBSON calls found with every value at path in doc. Like a query of MongoDB, it searches
// the elements of arrays on the path. It also searches the strings on the path that contain
// JSON.
func findBSON(doc []byte, path []string, found foundBSON) error {
	w := bsonwalk.New(doc)
	for w.Next() {
		var err error
		switch path[0] {
		case anyKey:
			found(0x02, append(append(make([]byte, 4), w.Name()...), 0))
		case anyMember:
			err = enterBSON(w.Type(), w.Value(), path[1:], found)
		default:
			if n := isName(w.Name(), path); n > 0 {
				return enterBSON(w.Type(), w.Value(), path[n:], found)
			}
		}
		if err != nil {
			return err
		}
	}
	return w.Err()
}

func enterBSON(typ byte, value []byte, path []string, found foundBSON) error {
	switch {
	case len(path) == 0:
		found(typ, value)
	case typ == 0x02:
		// Text that is not JSON has no member at this path.
		_ = enterText(value[4:len(value)-1], path, func(s []byte, from, to int) { found(typeJSON, s[from:to]) })
	case typ == 0x03:
		return findBSON(value, path, found)
	case typ == 0x04:
		named := path[0] != anyMember && !isIndex(path[0])
		w := bsonwalk.New(value)
		for w.Next() {
			var err error
			switch {
			case path[0] == anyMember || string(w.Name()) == path[0]:
				err = enterBSON(w.Type(), w.Value(), path[1:], found)
			case w.Type() == 0x03, named && w.Type() == 0x02:
				err = enterBSON(w.Type(), w.Value(), path, found)
			}
			if err != nil {
				return err
			}
		}
		return w.Err()
	}
	return nil
}

// bsonTypes are the names of all types except ObjectId, by their bytes in BSON.
var bsonTypes = map[byte]string{
	0x01: "double", 0x02: "string", 0x03: "object", 0x04: "array", 0x05: "binData", 0x06: "undefined",
	0x08: "bool", 0x09: "date", 0x0A: "null", 0x0B: "regex", 0x0C: "dbPointer", 0x0D: "javascript",
	0x0E: "symbol", 0x0F: "javascript", 0x10: "int", 0x11: "timestamp", 0x12: "long", 0x13: "decimal",
	0x7F: "maxKey", 0xFF: "minKey",
}

// bsonValue adds a value of the type with the byte typ.
func (b *Batch) bsonValue(typ byte, value []byte, place uint32) {
	t := bsonTypes[typ]
	switch {
	case typ == 0x07:
		b.IDs = append(b.IDs, Item{objectid.ID(value), place})
		return
	case t == "string":
		value = value[4 : len(value)-1]
		b.addString(value, strconv.AppendQuote(nil, clip(value)), place)
		return
	case t == "binData" && (value[4] == 3 || value[4] == 4) && len(value) == 5+16:
		t = typeUUID
	}
	var text []byte
	if b.Others[t] < MaxSamples {
		text = extendedJSON(typ, value)
	}
	b.addOther(t, place, text)
}

// maxSample is the most bytes of a value that is shown in Extended JSON.
const maxSample = 1000

// extendedJSON returns a value as commands such as "oid get" take it, or in hexadecimal digits if it is
// long.
func extendedJSON(typ byte, value []byte) []byte {
	text, err := []byte(nil), errBSON
	if len(value) <= maxSample {
		text, err = bson.MarshalExtJSON(bson.D{{Key: "", Value: bson.RawValue{Type: bson.Type(typ), Value: value}}}, false, false)
	}
	if err != nil {
		return fmt.Appendf(nil, "%x", value[:min(len(value), maxText/2)])
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(`{"":`)), []byte("}"))
}
