package wire

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

// NewIDs is a request for new ids.
type NewIDs struct {
	Count int `json:"count,omitempty" minimum:"1" maximum:"10000000" default:"1" example:"3" doc:"How many ids to make."`
}

// IDs are new ids in rising order.
type IDs struct {
	IDs []objectid.ID `json:"ids" nullable:"false" doc:"The new ids, in rising order."`
}

// TimedID is an ObjectId with its creation time.
type TimedID struct {
	ID   objectid.ID `json:"id"`
	Time time.Time   `json:"time" doc:"Creation time, in whole seconds."`
}

// SealedID is an ObjectId with its sealed id.
type SealedID struct {
	ID     objectid.ID `json:"id"`
	Sealed string      `json:"sealed"`
}

// Range is the range of ids that were created between two times.
type Range struct {
	From *TimedID `json:"from,omitempty" doc:"The smallest id of the range; absent without a lower bound."`
	To   *TimedID `json:"to,omitempty" doc:"The first id after the range; absent without an upper bound."`
	// Queries are the range in query languages.
	Queries []Query `json:"queries" nullable:"false" doc:"The range in query languages, ready to paste."`
}

// Query is a condition on ids in one language.
type Query struct {
	For   string `json:"for" example:"mongosh" doc:"Name of the language."`
	About string `json:"about" doc:"Where to use it."`
	Text  string `json:"text" doc:"The condition or query."`
}
