package engine

import (
	"fmt"

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
