package engine

import (
	"fmt"

	"github.com/oidkit/oid/internal/causes"
)

// Unreachable returns the error for a server that does not answer: its name and
// hosts, the causes of err, and what to do. It wraps err, whose own text it leaves out.
func Unreachable(server, hosts string, err error) error {
	return Reworded(err, "%s at %s does not answer (%s); see that it runs and that the URL names its host and port", server, hosts, causes.Of(err))
}

// Reworded returns an error that wraps err and has another text.
func Reworded(err error, format string, args ...any) error {
	return &reworded{fmt.Sprintf(format, args...), err}
}

type reworded struct {
	text string
	err  error
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.err }
