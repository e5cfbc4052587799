package wire

// Odds are the chances of a collision among a number of processes.
type Odds struct {
	Processes   float64 `json:"processes"`
	Layout      string  `json:"layout,omitempty" doc:"Layout of their ids: driver; absent for modern."`
	IDsEach     float64 `json:"ids_per_second" doc:"Ids that each process creates in a second."`
	OverSeconds float64 `json:"over_seconds" doc:"How long they run together."`
	SharedValue float64 `json:"shared_value" doc:"Chance that two of them have the same process value."`
	RepeatedID  float64 `json:"repeated_id" doc:"Chance that two of them create the same id."`
}

// Version describes a build of the command.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Collection is a collection of a store.
type Collection struct {
	Collection string `json:"collection"`
}

// Deleted is how many documents were deleted.
type Deleted struct {
	Documents int64 `json:"documents"`
}

// Verification is the judgement on a generator of ids.
type Verification struct {
	Command     []string  `json:"command"`
	Test        string    `json:"test" doc:"What it was asked to do: ids, fork, decode or decode-json."`
	Clock       string    `json:"clock,omitempty" doc:"What its clock did: frozen, back, forward, wrap or end; absent for the system's."`
	Processes   int       `json:"processes" doc:"Processes that wrote ids or answered."`
	IDs         int64     `json:"ids" doc:"Ids that were judged, or answers."`
	Wanted      int64     `json:"wanted" doc:"Ids that would have been read, or texts."`
	TookSeconds float64   `json:"took_seconds"`
	Holds       bool      `json:"holds" doc:"No promise is broken that must hold."`
	Promises    []Promise `json:"promises"`
}

// Promise is something that users of a generator rely on, and whether it was kept.
type Promise struct {
	Promise string `json:"promise"`
	Text    string `json:"text" doc:"The promise in words."`
	State   string `json:"state" doc:"holds, broken or cannot-tell."`
	Allowed bool   `json:"allowed,omitempty" doc:"It is broken, but the specification of ObjectIds does not demand it."`
	Times   int64  `json:"times,omitempty" doc:"How often it was broken."`
	Cause   string `json:"cause,omitempty" doc:"What fits best of what breaks it, or why it cannot be told."`
	Example string `json:"example,omitempty" doc:"How it was broken first."`
	Meaning string `json:"meaning,omitempty" doc:"What it means for a user that it is broken."`
}
