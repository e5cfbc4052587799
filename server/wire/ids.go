// Package wire has the JSON types of the HTTP API. Package server sends them, package
// client receives them, and the command oid prints them with --json. The package depends
// only on package objectid.
//
// All types follow the same conventions:
//
//   - Names are in snake_case.
//   - Times are RFC 3339 in UTC. They have as many fractional digits as are known.
//   - Durations are numbers of seconds, and their names end in _seconds. Sizes are
//     numbers of bytes, and their names end in _bytes.
//   - Enumerations are lower case with hyphens.
//   - An unknown value is absent. In fields that are always sent, it is null. In requests,
//     an optional field that is null counts as absent.
//   - An ObjectId that a user gave has the type string, because objectid.ID encodes the id
//     of zeros as null.
//   - A result is one object; a list is an array inside an object. A stream of results
//     has one object per line.
//
// Later versions of the server may add fields, and values of enumerations. A client must
// ignore those that it does not know.
//
// Terms: a process is one run of one program. A GPID names it: ip:port:start_time:pid. The
// registry records processes; each record of a process is a member, and has a member key.
// The process value is the five bytes of an id between its time and its counter. By these
// bytes an id is traced to a process. A process that registers gets a process block, the
// first four bytes of its process values, which no other process gets. A process that
// creates its ids with another library, such as a driver of MongoDB, can be adopted: it is
// recorded by one of its ids, the evidence id.
package wire

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

// NewIDs is a request for new ids.
type NewIDs struct {
	Count int `json:"count,omitempty" minimum:"1" default:"1" example:"3" doc:"How many ids to create, at most 10000."`
}

// IDs is the answer to a request for new ids.
type IDs struct {
	IDs []objectid.ID `json:"ids" nullable:"false" doc:"The new ids. Each is greater than the one before."`
}

// TimedID is an ObjectId with its creation time.
type TimedID struct {
	ID   objectid.ID `json:"id"`
	Time time.Time   `json:"time" doc:"Creation time, in whole seconds."`
}

// SealedID is an ObjectId and its sealed id, the public form of the id under a key. See
// package objectid/sealed.
type SealedID struct {
	ID     string `json:"id"` // 24 hexadecimal digits
	Sealed string `json:"sealed"`
}

// Range is the range of ids that were created between two times.
type Range struct {
	From    *TimedID `json:"from,omitempty" doc:"The smallest id of the range; absent if the range has no lower bound."`
	To      *TimedID `json:"to,omitempty" doc:"The first id after the range; absent if the range has no upper bound."`
	Queries []Query  `json:"queries" nullable:"false" doc:"A query for the ids of the range in each query language, ready to paste."`
}

// Query selects the ids of a range, in one query language.
type Query struct {
	For   string `json:"for" example:"mongosh" doc:"Name of the language."`
	About string `json:"about" doc:"Which programs take the query."`
	Text  string `json:"text" doc:"The query or condition."`
}

// Inspection says what the bytes of an id mean. For an ObjectId it also says which process
// created the id.
type Inspection struct {
	Found *Found `json:"found,omitempty" doc:"Where the id was found in a text."`

	ID       string     `json:"id" doc:"The id in the canonical form of its format."`
	Time     *time.Time `json:"time" doc:"Creation time in the first reading; null if the first reading has none."`
	Readings []Reading  `json:"readings" nullable:"false" doc:"The possible interpretations of the id, the most plausible first."`

	Trace      *Trace `json:"trace,omitempty" doc:"Which process created the ObjectId. Absent if the id has another format, or if there is no registry."`
	TraceError string `json:"trace_error,omitempty" doc:"Why the ObjectId could not be traced."`
}

// Found is where an id was found in a text.
type Found struct {
	Source string `json:"source" example:"stdin" doc:"Where the text came from: stdin or argument."`
	Line   int    `json:"line" doc:"Number of the line or argument, counted from 1. For an id in a document, the first line of the document."`
	Text   string `json:"text" doc:"The id as it was written."`
	Before string `json:"before,omitempty" doc:"The text before the id in its line or document, such as ObjectId(. It is cut to the 40 characters next to the id, with ... in place of the others."`
	After  string `json:"after,omitempty" doc:"The text after the id in its line or document. It is cut to the 40 characters next to the id, with ... in place of the others."`
}

// Reading is one interpretation of an id: as an id of one format and variant.
type Reading struct {
	Format  string     `json:"format" enum:"objectid,uuid,ulid,ksuid,xid,snowflake,typeid,gpid" example:"objectid" doc:"Format of the id."`
	Variant string     `json:"variant,omitempty" example:"modern" doc:"Layout of an ObjectId, or election for the electionId of a replica set; version of a UUID, service of a Snowflake, prefix of a TypeID."`
	Verdict string     `json:"verdict" enum:"likely,possible,unlikely,bound" doc:"How plausible the reading is. bound: the id has only a time, followed by eight bytes 00 or eight bytes FF. Such an id is a bound of a time range, not a generated id."`
	Reason  string     `json:"reason" doc:"Why the verdict is what it is."`
	Time    *time.Time `json:"time" doc:"Creation time, in the precision of the format; null if the format has none."`
	Fields  []Field    `json:"fields" nullable:"false" doc:"The parts of the id, from its first bit to its last."`
}

// Field is one part of an id, such as its time.
type Field struct {
	Name   string  `json:"name" example:"counter"`
	Bit    int     `json:"bit" doc:"Offset of the field's first bit from the most significant bit of the id."`
	Bits   int     `json:"bits" doc:"Length of the field in bits."`
	Hex    string  `json:"hex" doc:"Value in hexadecimal digits."`
	Number *uint64 `json:"number,omitempty" doc:"Value, if the field is a number."`
}
