// Package wire has the JSON types of the HTTP API in package server. Package
// client decodes into them, and the command oid writes them with --json.
//
// The types are plain: they depend on nothing but package objectid. All follow the
// same conventions:
//
//   - Names are in snake_case.
//   - Times are RFC 3339 in UTC, with as many digits as are known.
//   - Durations are numbers of seconds with names in _seconds, sizes are numbers
//     of bytes with names in _bytes.
//   - Enumerations are lower case with hyphens.
//   - What is unknown is absent, or null in a field that is always sent.
//   - An ObjectId that a user gave is a string: objectid.ID writes the id of zeros as
//     null.
//   - A result is one object. Results that are written as they come are one object per
//     line; a list is an array in an object, never alone.
//
// The server may add fields and values of enumerations in later versions. A client
// must ignore those that it does not know.
package wire

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

// NewIDs is a request for new ids.
type NewIDs struct {
	Count int `json:"count,omitempty" minimum:"1" default:"1" example:"3" doc:"How many ids to create, at most 10000."`
}

// IDs are new ids.
type IDs struct {
	IDs []objectid.ID `json:"ids" nullable:"false" doc:"Each greater than the one before."`
}

// TimedID is an ObjectId with its creation time.
type TimedID struct {
	ID   objectid.ID `json:"id"`
	Time time.Time   `json:"time" doc:"Creation time, in whole seconds."`
}

// SealedID is an ObjectId with its sealed id.
type SealedID struct {
	ID     string `json:"id"` // its digits
	Sealed string `json:"sealed"`
}

// Range is the range of ids that were created between two times.
type Range struct {
	From    *TimedID `json:"from,omitempty" doc:"The smallest id of the range; absent without a lower bound."`
	To      *TimedID `json:"to,omitempty" doc:"The first id after the range; absent without an upper bound."`
	Queries []Query  `json:"queries" nullable:"false" doc:"The range in query languages, ready to paste."`
}

// Query is a condition on ids in one language.
type Query struct {
	For   string `json:"for" example:"mongosh" doc:"Name of the language."`
	About string `json:"about" doc:"Where to use it."`
	Text  string `json:"text" doc:"The condition or query."`
}

// Inspection says what the bytes of an id mean and, for an ObjectId, which process
// created it.
type Inspection struct {
	Found *Found `json:"found,omitempty" doc:"Where the id was found in a text."`

	ID       string     `json:"id" doc:"The id in the canonical form of its format."`
	Time     *time.Time `json:"time" doc:"Creation time in the first reading; null if that has none."`
	Readings []Reading  `json:"readings" nullable:"false" doc:"The ways to read the id, the most plausible first."`

	Trace      *Trace `json:"trace,omitempty" doc:"Which process created an ObjectId; absent for ids of other formats, and without a registry."`
	TraceError string `json:"trace_error,omitempty" doc:"Why an ObjectId has no trace."`
}

// Found is where an id was found in a text.
type Found struct {
	Source string `json:"source" example:"stdin" doc:"Name of the text: stdin or argument."`
	Line   int    `json:"line" doc:"Number of the line, or of the argument; from 1."`
	Text   string `json:"text" doc:"The id as it was written."`
	Before string `json:"before,omitempty" doc:"What was removed in front of the id."`
	After  string `json:"after,omitempty" doc:"What was removed behind the id."`
}

// Reading is one way to read an id.
type Reading struct {
	Format  string     `json:"format" enum:"objectid,uuid,ulid,ksuid,xid,snowflake,typeid,gpid" example:"objectid" doc:"Format of the id."`
	Variant string     `json:"variant,omitempty" example:"modern" doc:"Layout of an ObjectId, version of a UUID, service of a Snowflake, prefix of a TypeID."`
	Verdict string     `json:"verdict" enum:"likely,possible,unlikely,bound"`
	Reason  string     `json:"reason" doc:"Why this is the verdict."`
	Time    *time.Time `json:"time" doc:"Creation time, as exact as the format has it; null if it has none."`
	Fields  []Field    `json:"fields" nullable:"false" doc:"The parts of the id, in the order of its bits."`
}

// Field is one part of an id.
type Field struct {
	Name   string  `json:"name" example:"counter"`
	Bit    int     `json:"bit" doc:"Offset of its first bit, from the most significant bit of the id."`
	Bits   int     `json:"bits" doc:"Length of the field in bits."`
	Hex    string  `json:"hex" doc:"Value in hexadecimal digits."`
	Number *uint64 `json:"number,omitempty" doc:"Value, if the field is a number."`
}
