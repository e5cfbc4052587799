package source

// Type is the type of a value that is not an ObjectId.
type Type uint8

// The types, by MongoDB's names for BSON types. typeText is for values of
// formats that know no types.
const (
	typeText Type = iota
	typeDouble
	typeString
	typeHexString
	typeObject
	typeArray
	typeBinData
	typeUUID
	typeUndefined
	typeBool
	typeDate
	typeNull
	typeRegex
	typeDBPointer
	typeJavascript
	typeSymbol
	typeInt
	typeTimestamp
	typeLong
	typeDecimal
	typeMinKey
	typeMaxKey

	// TypeCount is the number of types: every Type is less.
	TypeCount
)

// HexString is the type of strings of 24 hexadecimal digits.
const HexString = typeHexString

var typeNames = [TypeCount]string{
	"text", "double", "string", "hex-string", "object", "array", "binData", "uuid",
	"undefined", "bool", "date", "null", "regex", "dbPointer", "javascript", "symbol", "int",
	"timestamp", "long", "decimal", "minKey", "maxKey",
}

// String returns MongoDB's name of the BSON type; "uuid" for binary data that is
// one, "hex-string" for a string of 24 hexadecimal digits, and "text" where the
// format knows no types.
func (t Type) String() string { return typeNames[t] }
