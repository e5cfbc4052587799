package judge

// Verification is the result of a test of a program that creates or decodes ids.
type Verification struct {
	Command     []string `json:"command"`
	Test        string   `json:"test"`            // what the program was asked to do: ids, fork, decode or decode-json
	Clock       string   `json:"clock,omitempty"` // how the clock of the program was changed, a [ClockMode]; absent if it was not
	Processes   int      `json:"processes"`       // how many processes wrote ids or answers
	IDs         int64    `json:"ids"`             // how many ids or answers were read
	Wanted      int64    `json:"wanted"`          // how many ids or answers were asked for
	TookSeconds float64  `json:"took_seconds"`
	Holds       bool     `json:"holds"` // no promise was broken that the specification of ObjectIds demands, or --order
	Promises    []Result `json:"promises"`
}

// Result says whether the test showed that a promise holds.
type Result struct {
	Promise string `json:"promise"`           // the name of the promise
	Text    string `json:"text"`              // the promise in words
	State   string `json:"state"`             // holds, broken or cannot-tell
	Allowed bool   `json:"allowed,omitempty"` // the promise is broken, but the specification of ObjectIds does not demand it
	Times   int64  `json:"times,omitempty"`   // how many times the promise was broken
	Cause   string `json:"cause,omitempty"`   // the likeliest cause of a broken promise, or why the state cannot be told
	Example string `json:"example,omitempty"` // the first case in which the promise was broken
	Meaning string `json:"meaning,omitempty"` // what the broken promise means for users
}
