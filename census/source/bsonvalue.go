package source

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
)

// bsonSize returns the length of the value of type typ that data begins with. It
// reports false if there is no such type or data is too short. The types are
// those of the BSON specification, version 1.1.
func bsonSize(typ byte, data []byte) (size int, ok bool) {
	length := func(least, beyond int) {
		if len(data) < 4 {
			return
		}
		if n := int(int32(binary.LittleEndian.Uint32(data))); n >= least && n <= len(data) {
			size, ok = n+beyond, true
		}
	}
	switch typ {
	case 0x01, 0x09, 0x11, 0x12: // double, date, timestamp, long
		size, ok = 8, true
	case 0x02, 0x0D, 0x0E: // string, code, symbol
		length(1, 4)
	case 0x03, 0x04: // document, array
		length(5, 0)
	case 0x05: // binary
		length(0, 5)
	case 0x06, 0x0A, 0x7F, 0xFF: // undefined, null, maxKey, minKey
		return 0, true
	case 0x07: // ObjectId
		size, ok = 12, true
	case 0x08: // bool
		size, ok = 1, true
	case 0x0B: // regular expression: two texts
		if i := bytes.IndexByte(data, 0); i >= 0 {
			if k := bytes.IndexByte(data[i+1:], 0); k >= 0 {
				size, ok = i+k+2, true
			}
		}
	case 0x0C: // DBPointer
		length(1, 16)
	case 0x0F: // code with scope
		length(14, 0)
	case 0x10: // int
		size, ok = 4, true
	case 0x13: // decimal128
		size, ok = 16, true
	}
	return size, ok && size <= len(data)
}

var bsonTypes = map[byte]Type{
	0x01: typeDouble, 0x02: typeString, 0x03: typeObject, 0x04: typeArray, 0x05: typeBinData, 0x06: typeUndefined,
	0x08: typeBool, 0x09: typeDate, 0x0A: typeNull, 0x0B: typeRegex, 0x0C: typeDBPointer, 0x0D: typeJavascript,
	0x0E: typeSymbol, 0x0F: typeJavascript, 0x10: typeInt, 0x11: typeTimestamp, 0x12: typeLong, 0x13: typeDecimal,
	0x7F: typeMaxKey, 0xFF: typeMinKey,
}

// bsonValue adds one value.
func (b *Batch) bsonValue(typ byte, value []byte, place uint32) {
	if typ == 0x07 {
		b.addID(value, place)
		return
	}
	t := bsonTypes[typ]
	var text []byte
	switch t {
	case typeString, typeSymbol:
		value = value[4 : len(value)-1]
		if t == typeString && isHexID(value) {
			t = typeHexString
		}
		text = strconv.AppendQuote(nil, clip(value))
	case typeInt:
		value = strconv.AppendInt(nil, int64(int32(binary.LittleEndian.Uint32(value))), 10)
		text = value
	case typeLong:
		value = strconv.AppendInt(nil, int64(binary.LittleEndian.Uint64(value)), 10)
		text = value
	case typeDouble:
		f := math.Float64frombits(binary.LittleEndian.Uint64(value))
		value = strconv.AppendFloat(nil, f, 'g', -1, 64)
		text = value
	case typeBool:
		value = strconv.AppendBool(nil, value[0] != 0)
		text = value
	case typeBinData:
		subtype := value[4]
		if (subtype == 3 || subtype == 4) && len(value) == 5+16 {
			t = typeUUID
		}
		text = fmt.Appendf(nil, "subtype %d, %s", subtype, hex.EncodeToString(value[5:min(len(value), 5+16)]))
	default:
		text = fmt.Appendf(nil, "%x", value[:min(len(value), maxText/2)])
	}
	b.addOther(t, place, value, text)
}
