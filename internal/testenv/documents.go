package testenv

import (
	"math"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// maxDepth is the depth of the deepest of the [Documents], as in MongoDB.
const maxDepth = 100

// Documents returns documents with an _id that hold the types and values of BSON, nested
// ones too. If common is true, it leaves out the types, values and names that FerretDB 1
// refuses.
func Documents(common bool) []bson.Raw {
	at := time.Date(2026, 11, 20, 10, 0, 0, 123e6, time.UTC)
	fields := bson.D{
		{Key: "double", Value: 1.5},
		{Key: "small", Value: math.SmallestNonzeroFloat64},
		{Key: "large", Value: math.MaxFloat64},
		{Key: "whole", Value: 3.0},
		{Key: "string", Value: "täxt\u2028"},
		{Key: "empty", Value: ""},
		{Key: "document", Value: bson.D{{Key: "z", Value: int32(1)}, {Key: "a", Value: bson.D{}}}},
		{Key: "array", Value: bson.A{int32(1), "two", bson.D{{Key: "three", Value: bson.A{}}}}},
		{Key: "binary", Value: bson.Binary{Subtype: 0, Data: []byte{0, 255, 1}}},
		{Key: "uuid", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}},
		{Key: "id", Value: objectid.MustParse("507f1f77bcf86cd799439011")},
		{Key: "true", Value: true},
		{Key: "false", Value: false},
		{Key: "date", Value: at},
		{Key: "before", Value: time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Key: "null", Value: nil},
		{Key: "regex", Value: bson.Regex{Pattern: "^a", Options: "i"}},
		{Key: "int32", Value: int32(-1)},
		{Key: "timestamp", Value: bson.Timestamp{T: 1, I: 2}},
		{Key: "int64", Value: int64(math.MinInt64)},
		{Key: "one", Value: int64(1)},
	}
	if !common {
		decimal, _ := bson.ParseDecimal128("-1.50E+3") // a valid number
		fields = append(fields, bson.D{
			{Key: "nan", Value: math.NaN()},
			{Key: "inf", Value: math.Inf(-1)},
			{Key: "minus", Value: math.Copysign(0, -1)},
			{Key: "decimal", Value: decimal},
			{Key: "code", Value: bson.JavaScript("f()")},
			{Key: "scope", Value: bson.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "x", Value: int32(1)}}}},
			{Key: "symbol", Value: bson.Symbol("s")},
			{Key: "undefined", Value: bson.Undefined{}},
			{Key: "min", Value: bson.MinKey{}},
			{Key: "max", Value: bson.MaxKey{}},
			{Key: "a.b", Value: int32(1)},
			{Key: "", Value: int32(2)},
			{Key: "twice", Value: int32(1)},
			{Key: "twice", Value: int32(2)},
		}...)
	}
	deep := bson.D{}
	for range maxDepth - 2 {
		deep = bson.D{{Key: "d", Value: deep}}
	}
	id := objectid.MustParse("6b002098747ff1468ce85f00")
	var docs []bson.Raw
	add := func(doc ...bson.E) {
		raw, err := bson.Marshal(bson.D(doc))
		if err != nil {
			panic(err)
		}
		docs = append(docs, raw)
	}
	for _, field := range fields {
		id[objectid.Size-1]++
		add(bson.E{Key: "_id", Value: id}, field)
	}
	add(append(bson.D{{Key: "_id", Value: "all together"}}, fields...)...)
	if !common {
		add(bson.E{Key: "_id", Value: int32(1)}, bson.E{Key: "deep", Value: deep})
	}
	add(bson.E{Key: "_id", Value: int64(2)})
	add(bson.E{Key: "_id", Value: 2.5}, bson.E{Key: "long", Value: strings.Repeat("x", 300_000)})
	return docs
}
