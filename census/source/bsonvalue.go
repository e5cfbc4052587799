package source

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
)

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
