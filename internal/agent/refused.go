package agent

// Reason is why the agent refused something. [Reasons] names each.
type Reason int

const (
	badLine Reason = iota
	badID
	otherNamespace
	otherWriter
	unreadable
	gone
	tooMany
	silent
	sinkRefused
	reasonCount
)

// Reasons has, for each reason, its name in the log and in the metrics, and what it means.
var Reasons = [reasonCount][2]string{
	badLine:        {"line", "the line was invalid"},
	badID:          {"id", "the process cannot have created the id"},
	otherNamespace: {"namespace", "the process is in a PID namespace that the agent cannot see"},
	otherWriter:    {"writer", "another process wrote to the connection"},
	unreadable:     {"unreadable", "the kernel did not show what the agent needs to know about the process"},
	gone:           {"ended", "the process ended before the agent could tell which one it was"},
	tooMany:        {"limit", "the program, its user or the agent has reached a limit"},
	silent:         {"silent", "a connection sent no line in time"},
	sinkRefused:    {"store", "the store or the server will never accept the process or its id"},
}

// refusal is an error with the reason of a refusal.
type refusal struct {
	reason Reason
	error
}

// Unwrap returns the error without the reason.
func (r refusal) Unwrap() error { return r.error }
