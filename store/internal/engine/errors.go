package engine

import (
	"fmt"

	"github.com/oidkit/oid/internal/causes"
)

// Unreachable returns the error for a server that does not answer. Its text contains the
// name of the server (such as "MongoDB"), its hosts, the causes of err, and advice. It wraps err
// but does not contain the text of err.
func Unreachable(server, hosts string, err error) error {
	return Reworded(err, "%s at %s does not answer (%s); check that it is running and that the URL names its host and port", server, hosts, causes.Of(err))
}

// Reworded returns an error that wraps err but has only the formatted text, not that of err.
func Reworded(err error, format string, args ...any) error {
	return &reworded{fmt.Sprintf(format, args...), err}
}

type reworded struct {
	text string
	err  error
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.err }
