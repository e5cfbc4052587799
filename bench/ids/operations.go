package main

import (
	"log"

	"github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// operation is one thing that every library does in its own way.
type operation struct {
	name      string
	shared    bool      // measure it on all cores as well: they share a state
	libraries []library // oid first
}

// library does an operation n times.
type library struct {
	name string
	run  func(n int)
	each int // ids that one time makes, if not 1
}

func (operation) ids(l library) int { return max(l.each, 1) }

// repeat calls f, which the compiler cannot see through, so that it leaves nothing
// out.
func repeat[T any](f func() T) func(int) {
	return func(n int) {
		for range n {
			f()
		}
	}
}

func check[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

const batch = 1024

var (
	node = check(snowflake.NewNode(1))

	oidSample   = objectid.New()
	mongoSample = bson.NewObjectID()
	xidSample   = xid.New()
	ulidSample  = ulid.Make()
	uuidSample  = check(uuid.NewV7())
	ksuidSample = ksuid.New()
	snowSample  = node.Generate()
)

var operations = []operation{
	{"New", true, []library{
		{name: "oid", run: repeat(objectid.New)},
		{name: "mongo-driver NewObjectID", run: repeat(bson.NewObjectID)},
		{name: "rs/xid New", run: repeat(xid.New)},
		{name: "oklog/ulid Make", run: repeat(ulid.Make)},
		{name: "google/uuid NewV7", run: repeat(func() uuid.UUID { return check(uuid.NewV7()) })},
		{name: "segmentio/ksuid New", run: repeat(ksuid.New)},
		{name: "bwmarrin/snowflake Generate", run: repeat(node.Generate)},
	}},
	{"Fill of 1,024, for each id", true, []library{
		{name: "oid Fill", each: batch, run: func(n int) {
			ids := make([]objectid.ID, batch)
			for range n {
				objectid.Fill(ids)
			}
		}},
		{name: "mongo-driver NewObjectID", run: repeat(bson.NewObjectID)},
		{name: "rs/xid New", run: repeat(xid.New)},
		{name: "oklog/ulid Make", run: repeat(ulid.Make)},
		{name: "google/uuid NewV7", run: repeat(func() uuid.UUID { return check(uuid.NewV7()) })},
		{name: "segmentio/ksuid New", run: repeat(ksuid.New)},
		{name: "bwmarrin/snowflake Generate", run: repeat(node.Generate)},
	}},
	{"Parse", false, []library{
		{name: "oid Parse", run: parsing(objectid.Parse, oidSample.String())},
		{name: "mongo-driver ObjectIDFromHex", run: parsing(bson.ObjectIDFromHex, mongoSample.Hex())},
		{name: "rs/xid FromString", run: parsing(xid.FromString, xidSample.String())},
		{name: "oklog/ulid ParseStrict", run: parsing(ulid.ParseStrict, ulidSample.String())},
		{name: "oklog/ulid Parse (unchecked)", run: parsing(ulid.Parse, ulidSample.String())},
		{name: "google/uuid Parse", run: parsing(uuid.Parse, uuidSample.String())},
		{name: "segmentio/ksuid Parse", run: parsing(ksuid.Parse, ksuidSample.String())},
		{name: "bwmarrin/snowflake ParseString", run: parsing(snowflake.ParseString, snowSample.String())},
	}},
	{"AppendText, into a buffer where there is a way", false, []library{
		{name: "oid AppendText", run: appending(oidSample.AppendText)},
		{name: "mongo-driver MarshalText", run: appending(func([]byte) ([]byte, error) { return mongoSample.MarshalText() })},
		{name: "rs/xid Encode", run: appending(func(b []byte) ([]byte, error) { return xidSample.Encode(b[:20]), nil })},
		{name: "oklog/ulid MarshalTextTo", run: appending(func(b []byte) ([]byte, error) { return b[:26], ulidSample.MarshalTextTo(b[:26]) })},
		{name: "google/uuid MarshalText", run: appending(func([]byte) ([]byte, error) { return uuidSample.MarshalText() })},
		{name: "segmentio/ksuid Append", run: appending(func(b []byte) ([]byte, error) { return ksuidSample.Append(b), nil })},
		{name: "bwmarrin/snowflake Bytes", run: appending(func([]byte) ([]byte, error) { return snowSample.Bytes(), nil })},
	}},
	{"String", false, []library{
		{name: "oid", run: repeat(oidSample.String)},
		{name: "mongo-driver Hex", run: repeat(mongoSample.Hex)},
		{name: "rs/xid", run: repeat(xidSample.String)},
		{name: "oklog/ulid", run: repeat(ulidSample.String)},
		{name: "google/uuid", run: repeat(uuidSample.String)},
		{name: "segmentio/ksuid", run: repeat(ksuidSample.String)},
		{name: "bwmarrin/snowflake", run: repeat(snowSample.String)},
	}},
}

func parsing[T any](parse func(string) (T, error), text string) func(int) {
	return repeat(func() T { return check(parse(text)) })
}

func appending(f func([]byte) ([]byte, error)) func(int) {
	return func(n int) {
		buf := make([]byte, 0, 64)
		for range n {
			check(f(buf))
		}
	}
}
