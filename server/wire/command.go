package wire

// Odds are the chances that processes which draw their process values at random collide.
// Chances are from 0 to 1.
type Odds struct {
	Processes   float64 `json:"processes"`
	Layout      string  `json:"layout,omitempty" doc:"Layout of the ids: driver; absent for modern."`
	IDsEach     float64 `json:"ids_per_second" doc:"Ids that each process creates per second."`
	OverSeconds float64 `json:"over_seconds" doc:"How long the processes run at the same time."`
	SharedValue float64 `json:"shared_value" doc:"Chance that two of the processes have the same process value."`
	RepeatedID  float64 `json:"repeated_id" doc:"Chance that two of the processes create the same id."`
}

// Version describes a build of the command oid.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Collection names a collection of a store.
type Collection struct {
	Collection string `json:"collection"`
}

// Deleted is the number of documents that a command has deleted.
type Deleted struct {
	Documents int64 `json:"documents"`
}

// Verification is the result of a test of a program that creates or decodes ids.
type Verification struct {
	Command     []string  `json:"command"`
	Test        string    `json:"test" doc:"What the program was asked to do: ids, fork, decode or decode-json."`
	Clock       string    `json:"clock,omitempty" doc:"How the clock of the program was changed: frozen, back, forward, wrap or end; absent if it was not."`
	Processes   int       `json:"processes" doc:"How many processes wrote ids or answers."`
	IDs         int64     `json:"ids" doc:"How many ids or answers were read."`
	Wanted      int64     `json:"wanted" doc:"How many ids or answers were asked for."`
	TookSeconds float64   `json:"took_seconds"`
	Holds       bool      `json:"holds" doc:"No promise was broken that the specification of ObjectIds demands."`
	Promises    []Promise `json:"promises"`
}

// Promise is a property of a generator that its users rely on, and whether the test showed
// that it holds.
type Promise struct {
	Promise string `json:"promise" doc:"Name of the promise."`
	Text    string `json:"text" doc:"The promise in words."`
	State   string `json:"state" doc:"holds, broken or cannot-tell."`
	Allowed bool   `json:"allowed,omitempty" doc:"The promise is broken, but the specification of ObjectIds does not demand it."`
	Times   int64  `json:"times,omitempty" doc:"How many times the promise was broken."`
	Cause   string `json:"cause,omitempty" doc:"The likeliest cause of a broken promise, or why the state cannot be told."`
	Example string `json:"example,omitempty" doc:"The first case in which the promise was broken."`
	Meaning string `json:"meaning,omitempty" doc:"What the broken promise means for users."`
}
