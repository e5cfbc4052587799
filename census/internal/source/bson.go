package source

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

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
		} else if _, err := s.addDocument(b, value{typ: typeObject, data: block[pos : pos+size]}, b.Documents); err != nil {
			b.stop = stopped(b.start+int64(pos), fmt.Errorf("%w: %w", errBSON, err))
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

// bsonTypes are the names of all types, by their bytes in BSON.
var bsonTypes = map[byte]string{
	0x01: "double", 0x02: "string", 0x03: "object", 0x04: "array", 0x05: "binData", 0x06: "undefined", 0x07: "objectId",
	0x08: "bool", 0x09: "date", 0x0A: "null", 0x0B: "regex", 0x0C: "dbPointer", 0x0D: "javascript",
	0x0E: "symbol", 0x0F: "javascript", 0x10: "int", 0x11: "timestamp", 0x12: "long", 0x13: "decimal",
	0x7F: "maxKey", 0xFF: "minKey",
}

// addBSON adds a value in BSON that is neither a string nor an array.
func (b *Batch) addBSON(v value, place uint32) {
	if v.typ == typeObjectID {
		b.IDs = append(b.IDs, Item{objectid.ID(v.data), place})
		return
	}
	t := bsonTypes[v.typ]
	if t == "binData" && (v.data[4] == 3 || v.data[4] == 4) && len(v.data) == 5+16 {
		t = typeUUID
	}
	b.addOther(t, place, v)
}

// maxSample is the most bytes of a value that is shown in Extended JSON.
const maxSample = 1000

// shown returns v as commands such as "oid get" take it. A value of BSON that is long, or that
// has a part of a rare type, is in hexadecimal digits.
func (v value) shown() []byte {
	switch {
	case v.isJSON:
		return v.data
	case v.typ == typeString:
		return strconv.AppendQuote(nil, clip(v.text()))
	case len(v.data) <= maxSample:
		if text, err := v.appendBSON(nil); err == nil {
			return text
		}
	}
	return fmt.Appendf(nil, "%x", v.data[:min(len(v.data), maxText/2)])
}

// appendBSON appends a value of BSON in relaxed Extended JSON, version 2. It returns an error if
// the value has a part of a type that it does not write, or that cannot be read.
func (v value) appendBSON(out []byte) ([]byte, error) {
	var text string
	n := binary.LittleEndian.Uint64(append(v.data[:len(v.data):len(v.data)], make([]byte, 8)...)) // with zeros after the value
	switch v.typ {
	case typeObject, typeArray:
		sep, end := "{", "}"
		if v.typ == typeArray {
			sep, end = "[", "]"
		}
		err := v.each(func(name []byte, member value) (err error) {
			out, sep = append(out, sep...), ","
			if v.typ == typeObject {
				out = append(strconv.AppendQuote(out, string(name)), ':')
			}
			out, err = member.appendBSON(out)
			return err
		})
		return append(out, strings.TrimPrefix(sep, ",")+end...), err
	case 0x01: // double
		text = strconv.FormatFloat(math.Float64frombits(n), 'g', -1, 64)
	case typeString:
		text = strconv.Quote(string(v.text()))
	case 0x05: // binary data
		if v.data[4] == 2 { // an old subtype with a second length
			return out, errors.ErrUnsupported
		}
		text = fmt.Sprintf(`{"$binary":{"base64":"%s","subType":"%02x"}}`, base64.StdEncoding.EncodeToString(v.data[5:]), v.data[4])
	case typeObjectID:
		text = fmt.Sprintf(`{"$oid":"%x"}`, v.data)
	case typeBool:
		text = strconv.FormatBool(n == 1)
	case 0x09: // date, in milliseconds
		text = time.UnixMilli(int64(n)).UTC().Format(`{"$date":"2006-01-02T15:04:05.999Z"}`)
	case 0x06, typeNull: // undefined
		text = bsonTypes[v.typ]
	case 0x10: // 32 bits
		text = strconv.Itoa(int(int32(n)))
	case 0x11: // timestamp
		text = fmt.Sprintf(`{"$timestamp":{"t":%d,"i":%d}}`, n>>32, uint32(n))
	case typeLong:
		text = strconv.FormatInt(int64(n), 10)
	case 0x7F, 0xFF: // the greatest and the least key
		text = `{"$` + bsonTypes[v.typ] + `":1}`
	default:
		return out, errors.ErrUnsupported
	}
	return append(out, text...), nil
}
