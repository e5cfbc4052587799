package wire

import (
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// NewIDs asks for new ids.
type NewIDs struct {
	Count int `json:"count,omitempty" minimum:"1" maximum:"10000000" default:"1" example:"3" doc:"How many ids to make."`
}

// IDs is the JSON form of new ids, in rising order.
type IDs struct {
	IDs []objectid.ID `json:"ids" nullable:"false" doc:"The new ids, in rising order."`
}

// Inspection is what one id tells, and who made it.
type Inspection struct {
	inspect.Report

	// Trace is what the registry knows of an ObjectId; nil for ids of other
	// formats, and where TraceError is set.
	Trace *registry.Trace `json:"trace,omitempty" doc:"What the registry knows of an ObjectId."`
	// TraceError says why there is no trace of an ObjectId.
	TraceError string `json:"trace_error,omitempty" doc:"Why there is no trace of an ObjectId."`
}

// Range is the ids of a stretch of time. A bound that is not there is nil.
type Range struct {
	From *Bound `json:"from,omitempty" doc:"The smallest id of the range; missing if there is no lower bound."`
	To   *Bound `json:"to,omitempty" doc:"The first id behind the range; missing if there is no upper bound."`
	// Queries are the range in the languages of package timerange.
	Queries []Query `json:"queries" nullable:"false" doc:"The range in query languages, ready to paste."`
}

// Bound is one end of a range.
type Bound struct {
	ID   objectid.ID `json:"id"`
	Time time.Time   `json:"time"`
}

// Query is a range in one language.
type Query struct {
	For   string `json:"for" example:"mongosh" doc:"Name of the language."`
	About string `json:"about" doc:"What it is for."`
	Text  string `json:"text" doc:"The condition or query."`
}
