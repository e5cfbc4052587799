package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
)

// addJSON adds a value in JSON that is neither a string nor an array. It returns the 24
// digits of an ObjectId, or nil for any other value.
func (b *Batch) addJSON(v value, place uint32) (digits []byte) {
	t := typeText
	if v.typ == typeObject {
		if i := oidDigits(v.data); i >= 0 {
			digits = v.data[i : i+hexDigits]
			b.addHex(digits, place)
			return digits
		}
		t = extended(v.data)
	}
	if (t == "object" || t == typeText) && b.addPasted(short(v.data), place) {
		return nil
	}
	if v.typ == typeWord {
		t = wordType(v.data)
	}
	b.addOther(t, place, v)
	return nil
}

// oidDigits returns the position of the 24 digits in {"$oid":"..."}, or -1 if
// value begins with something else.
func oidDigits(value []byte) int {
	i := 1
	for _, token := range []string{`"$oid"`, ":", `"`} {
		if i = skipSpace(value, i); !bytes.HasPrefix(value[i:], []byte(token)) {
			return -1
		}
		i += len(token)
	}
	end := i + hexDigits
	if end >= len(value) || value[end] != '"' || new(objectid.ID).UnmarshalText(value[i:end]) != nil {
		return -1
	}
	if end = skipSpace(value, end+1); end == len(value) || value[end] != '}' {
		return -1
	}
	return i
}

// extendedTypes are the types of MongoDB Extended JSON, by the first key of their objects, in
// version 2 and in version 1.
var extendedTypes = map[string]string{
	"$numberDouble": "double", "$binary": "binData", "$uuid": typeUUID, "$undefined": "undefined",
	"$date": "date", "$regularExpression": "regex", "$regex": "regex", "$dbPointer": "dbPointer",
	"$code": "javascript", "$symbol": "symbol", "$numberInt": "int", "$timestamp": "timestamp",
	"$numberLong": "long", "$numberDecimal": "decimal", "$minKey": "minKey", "$maxKey": "maxKey",
}

// extended returns the type of an object of MongoDB Extended JSON.
func extended(object []byte) string {
	t := "object"
	if i := skipSpace(object, 1); object[i] == '"' {
		if key, _, err := keyAt(object, i); err == nil {
			if len(key) > 0 && key[0] == '$' {
				t = cmp.Or(extendedTypes[string(key)], t)
			} else if string(key) == "timestamp" && inspect.IsTimeAlone(short(object)) {
				t = typeTime
			}
		}
	}
	if t == "binData" && (bytes.Contains(object, []byte(`"04"`)) || bytes.Contains(object, []byte(`"03"`))) {
		return typeUUID
	}
	return t
}

// wordType returns the type of a number, a constant or a call such as Long(7), or typeText if
// word is none of these.
func wordType(word []byte) string {
	if name, _, isCall := bytes.Cut(bytes.TrimPrefix(word, []byte("new ")), []byte{'('}); isCall {
		if t, known := callTypes[string(bytes.TrimSpace(name))]; known {
			return t
		}
	}
	switch string(word) {
	case "true", "false":
		return "bool"
	case "null":
		return "null"
	}
	if n, err := strconv.ParseInt(string(word), 10, 64); err == nil {
		if int64(int32(n)) == n {
			return "int"
		}
		return "long"
	}
	if _, err := strconv.ParseFloat(string(word), 64); err == nil {
		return "double"
	}
	return typeText
}

// callTypes are the types by the functions that MongoDB's shells write around their values.
var callTypes = map[string]string{
	"ISODate": "date", "Date": "date", "UUID": typeUUID, "Long": "long", "NumberLong": "long", "Int32": "int",
	"NumberInt": "int", "Double": "double", "Decimal128": "decimal", "NumberDecimal": "decimal",
	"Binary": "binData", "BinData": "binData", "Timestamp": "timestamp", "MinKey": "minKey", "MaxKey": "maxKey",
	"Code": "javascript", "DBRef": "object",
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
