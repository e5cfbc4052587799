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
	libraries []library // the same in each operation, oid first
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

// init does what the documents of google/uuid recommend for speed.
func init() { uuid.EnableRandPool() }

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
		{name: "mongo-driver", run: repeat(bson.NewObjectID)},
		{name: "rs/xid", run: repeat(xid.New)},
		{name: "oklog/ulid", run: repeat(ulid.Make)},
		{name: "google/uuid", run: repeat(func() uuid.UUID { return check(uuid.NewV7()) })},
		{name: "segmentio/ksuid", run: repeat(ksuid.New)},
		{name: "bwmarrin/snowflake", run: repeat(node.Generate)},
	}},
	{"Fill of 1,024", true, []library{
		{name: "oid", each: batch, run: func(n int) {
			ids := make([]objectid.ID, batch)
			for range n {
				objectid.Fill(ids)
			}
		}},
		{name: "mongo-driver", run: repeat(bson.NewObjectID)},
		{name: "rs/xid", run: repeat(xid.New)},
		{name: "oklog/ulid", run: repeat(ulid.Make)},
		{name: "google/uuid", run: repeat(func() uuid.UUID { return check(uuid.NewV7()) })},
		{name: "segmentio/ksuid", each: batch, run: func(n int) {
			for range n {
				sequence := ksuid.Sequence{Seed: ksuid.New()}
				for range batch {
					check(sequence.Next())
				}
			}
		}},
		{name: "bwmarrin/snowflake", run: repeat(node.Generate)},
	}},
	{"Parse", false, []library{
		{name: "oid", run: parsing(objectid.Parse, oidSample.String())},
		{name: "mongo-driver", run: parsing(bson.ObjectIDFromHex, mongoSample.Hex())},
		{name: "rs/xid", run: parsing(xid.FromString, xidSample.String())},
		{name: "oklog/ulid", run: parsing(ulid.ParseStrict, ulidSample.String())},
		{name: "google/uuid", run: parsing(uuid.Parse, uuidSample.String())},
		{name: "segmentio/ksuid", run: parsing(ksuid.Parse, ksuidSample.String())},
		{name: "bwmarrin/snowflake", run: parsing(snowflake.ParseString, snowSample.String())},
	}},
	{"AppendText", false, []library{
		{name: "oid", run: appending(oidSample.AppendText)},
		{name: "mongo-driver", run: appending(func([]byte) ([]byte, error) { return mongoSample.MarshalText() })},
		{name: "rs/xid", run: appending(func(b []byte) ([]byte, error) { return xidSample.Encode(b[:20]), nil })},
		{name: "oklog/ulid", run: appending(func(b []byte) ([]byte, error) { return b[:26], ulidSample.MarshalTextTo(b[:26]) })},
		{name: "google/uuid", run: appending(func([]byte) ([]byte, error) { return uuidSample.MarshalText() })},
		{name: "segmentio/ksuid", run: appending(func(b []byte) ([]byte, error) { return ksuidSample.Append(b), nil })},
		{name: "bwmarrin/snowflake", run: appending(func([]byte) ([]byte, error) { return snowSample.Bytes(), nil })},
	}},
	{"String", false, []library{
		{name: "oid", run: repeat(oidSample.String)},
		{name: "mongo-driver", run: repeat(mongoSample.Hex)},
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
