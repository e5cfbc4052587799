package agent

// Reason is why the agent refused something: the label of the metric, and a word in the log.
type Reason string

// The reasons. docs/reference/metrics.md says what each means.
const (
	badLine, badID, otherWriter, silent Reason = "line", "id", "writer", "silent"
	otherNamespace, unreadable, gone    Reason = "namespace", "unreadable", "ended"
	tooMany, sinkRefused, attributes    Reason = "limit", "store", "attributes"
)

// Reasons are all reasons.
var Reasons = []Reason{badLine, badID, otherWriter, silent, otherNamespace, unreadable, gone, tooMany, sinkRefused, attributes}

// refusal is an error with the reason of a refusal.
type refusal struct {
	reason Reason
	error
}

// Unwrap returns the error without the reason.
func (r refusal) Unwrap() error { return r.error }
