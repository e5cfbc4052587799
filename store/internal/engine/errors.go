package engine

import (
	"fmt"

	"github.com/oidkit/oid/internal/causes"
	"github.com/oidkit/oid/store"
)

// NotFound returns the error for a key that no document has.
func NotFound(key store.Key) error { return fmt.Errorf("%w: %s", store.ErrNotFound, key) }

// Duplicate returns the error for a key that is taken.
func Duplicate(key store.Key) error { return fmt.Errorf("%w: %s", store.ErrDuplicate, key) }

// Unchanged returns the error for a document that a swap did not change, by whether one
// has its key.
func Unchanged(key store.Key, found bool) error {
	if found {
		return fmt.Errorf("%w: %s was written by another since it was read", store.ErrConflict, key)
	}
	return NotFound(key)
}

// NoCollection returns the error for a collection that does not exist.
func NoCollection(name string) error {
	return fmt.Errorf("%w: no collection %q", store.ErrNotFound, name)
}

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
