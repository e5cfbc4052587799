package engine

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/oidkit/oid/store"
)

// CheckCollection returns an error that wraps [store.ErrCollection] if name
// cannot name a collection. It refuses what MongoDB refuses: an empty name, one
// with NUL or $, one that begins or ends with a dot or has two in a row, one that
// begins with "system.", one of more than [store.MaxName] bytes, and one that is
// not UTF-8.
func CheckCollection(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", store.ErrCollection)
	case len(name) > store.MaxName:
		return fmt.Errorf("%w: %d bytes, want %d at most", store.ErrCollection, len(name), store.MaxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not UTF-8", store.ErrCollection, name)
	case strings.ContainsAny(name, "\x00$"):
		return fmt.Errorf("%w: %q contains NUL or $", store.ErrCollection, name)
	case name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, ".."):
		return fmt.Errorf("%w: %q begins or ends with a dot or has two in a row", store.ErrCollection, name)
	case strings.HasPrefix(name, "system."):
		return fmt.Errorf("%w: %q, names that begin with system. belong to MongoDB", store.ErrCollection, name)
	}
	return nil
}
