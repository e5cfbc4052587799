package source

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// addJSON adds the value from from to to of s. It returns the position
// of the 24 digits of an ObjectId, or -1 for every other value.
func (b *Batch) addJSON(s []byte, from, to int, place uint32, elements bool) (digits int) {
	value := s[from:to]
	switch value[0] {
	case '{':
		if i := oidDigits(value); i >= 0 {
			b.addHex(value[i:i+hexDigits], place)
			return from + i
		}
		b.addOther(extended(value), place, value)
	case '[':
		if !elements {
			b.addOther(typeArray, place, value)
			break
		}
		// The scanner has found the array's end, so it cannot fail here.
		_ = eachMember(s[:to], from, func(_ []byte, i, end int) error {
			b.addJSON(s, i, end, place, false)
			return nil
		})
	case '"', '\'', '`':
		b.addString(unescape(value[1:len(value)-1]), value, place)
	default:
		if b.addPasted(short(value), place) {
			break
		}
		b.addOther(wordType(value), place, value)
	}
	return -1
}

// oidDigits returns the position of the 24 digits in {"$oid":"..."}, or -1 if
// value is something else.
func oidDigits(value []byte) int {
	i := skipSpace(value, 1)
	if !bytes.HasPrefix(value[i:], []byte(`"$oid"`)) {
		return -1
	}
	i = skipSpace(value, i+len(`"$oid"`))
	if i >= len(value) || value[i] != ':' {
		return -1
	}
	i = skipSpace(value, i+1)
	if i+1+hexDigits+1 > len(value) || value[i] != '"' || value[i+1+hexDigits] != '"' {
		return -1
	}
	if !isHexID(value[i+1 : i+1+hexDigits]) {
		return -1
	}
	if end := skipSpace(value, i+2+hexDigits); end != len(value)-1 || value[end] != '}' {
		return -1
	}
	return i + 1
}

// extendedTypes are the types of MongoDB Extended JSON v2, and of version 1 where its
// names differ, by their first key.
var extendedTypes = map[string]Type{
	"$numberDouble": typeDouble, "$binary": typeBinData, "$uuid": typeUUID, "$undefined": typeUndefined,
	"$date": typeDate, "$regularExpression": typeRegex, "$regex": typeRegex, "$dbPointer": typeDBPointer,
	"$code": typeJavascript, "$symbol": typeSymbol, "$numberInt": typeInt, "$timestamp": typeTimestamp,
	"$numberLong": typeLong, "$numberDecimal": typeDecimal, "$minKey": typeMinKey, "$maxKey": typeMaxKey,
}

// extended returns the Type of an object.
func extended(object []byte) Type {
	i := skipSpace(object, 1)
	if i >= len(object) || object[i] != '"' {
		return typeObject
	}
	end, err := skipString(object, i)
	if err != nil {
		return typeObject
	}
	k, ok := extendedTypes[string(object[i+1:end-1])]
	if !ok {
		return typeObject
	}
	if k == typeBinData && (bytes.Contains(object, []byte(`"04"`)) || bytes.Contains(object, []byte(`"03"`))) {
		return typeUUID
	}
	return k
}

// wordType returns the Type of a value by how it is written, or typeText if it is not
// JSON.
func wordType(word []byte) Type {
	switch word[0] {
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"', '\'', '`':
		return typeString
	}
	if name, _, isCall := bytes.Cut(bytes.TrimPrefix(word, []byte("new ")), []byte{'('}); isCall {
		if t, known := callTypes[string(bytes.TrimSpace(name))]; known {
			return t
		}
	}
	if new(Batch).addPasted(short(word), 0) {
		return typeObject // ObjectId(...), as the shell writes it
	}
	switch string(word) {
	case "true", "false":
		return typeBool
	case "null":
		return typeNull
	}
	if n, err := strconv.ParseInt(string(word), 10, 64); err == nil {
		if int64(int32(n)) == n {
			return typeInt
		}
		return typeLong
	}
	if _, err := strconv.ParseFloat(string(word), 64); err == nil {
		return typeDouble
	}
	return typeText
}

// callTypes are the types by the functions with which shells write them.
var callTypes = map[string]Type{
	"ISODate": typeDate, "Date": typeDate, "UUID": typeUUID, "Long": typeLong, "NumberLong": typeLong, "Int32": typeInt,
	"NumberInt": typeInt, "Double": typeDouble, "Decimal128": typeDecimal, "NumberDecimal": typeDecimal,
	"Binary": typeBinData, "BinData": typeBinData, "Timestamp": typeTimestamp, "MinKey": typeMinKey, "MaxKey": typeMaxKey,
	"Code": typeJavascript, "DBRef": typeObject,
}

// unescape decodes text, a JSON string without its quotes.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(text)+`"`), &s) != nil {
		return text
	}
	return []byte(s)
}
