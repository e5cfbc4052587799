package wire

import "time"

// Inspection is the meaning of the bytes of an id and, for an ObjectId, the process
// that created it.
type Inspection struct {
	// Found is set where the id was found in pasted text.
	Found *Found `json:"found,omitempty" doc:"Where the id was found, if it was found in a text."`

	ID   string     `json:"id" doc:"The id in the canonical form of its format."`
	Time *time.Time `json:"time" doc:"Creation time in the first reading; null if that has none."`
	// Readings has at least one element.
	Readings []Reading `json:"readings" nullable:"false" doc:"The ways to read the id, the most plausible first."`

	// Trace is nil for ids of other formats, without a registry, and where
	// TraceError is set.
	Trace *Trace `json:"trace,omitempty" doc:"Which process created an ObjectId."`
	// TraceError is the reason why an ObjectId has no trace.
	TraceError string `json:"trace_error,omitempty" doc:"Why an ObjectId has no trace."`
}

// Found is the place of an id in the text that it was found in.
type Found struct {
	Source string `json:"source" example:"stdin" doc:"Name of the text: stdin or argument."`
	Line   int    `json:"line" doc:"Number of the line, or of the argument; from 1."`
	Text   string `json:"text" doc:"The id as it was written."`
	Before string `json:"before,omitempty" doc:"What was removed in front of the id."`
	After  string `json:"after,omitempty" doc:"What was removed behind the id."`
}

// Reading is one way to read an id.
type Reading struct {
	Format  string     `json:"format" enum:"objectid,uuid,ulid,ksuid,xid,snowflake,typeid,cuid2,push-id,gpid" example:"objectid" doc:"Format of the id."`
	Variant string     `json:"variant,omitempty" example:"modern" doc:"Layout of an ObjectId, version of a UUID, service of a Snowflake, prefix of a TypeID."`
	Verdict string     `json:"verdict" enum:"likely,possible,unlikely,bound"`
	Reason  string     `json:"reason" doc:"Explains the verdict."`
	Time    *time.Time `json:"time" doc:"Creation time, as exact as the format has it; null if it has none."`
	Fields  []Field    `json:"fields" nullable:"false" doc:"The parts of the id, in the order of its bits."`
}

// Field is one part of an id.
type Field struct {
	Name   string  `json:"name" example:"counter"`
	Bit    int     `json:"bit" doc:"Where the field begins, counted from the most significant bit of the id."`
	Bits   int     `json:"bits" doc:"Length of the field in bits."`
	Hex    string  `json:"hex" doc:"Value in hexadecimal digits, as many as it needs."`
	Number *uint64 `json:"number,omitempty" doc:"Value, if the field is a number."`
}
