package store

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckCollection returns an error that wraps [ErrCollection] if name
// cannot name a collection. It refuses what MongoDB refuses: an empty name, one
// with NUL or $, one that begins or ends with a dot or has two in a row, one that
// begins with "system.", one of more than [MaxName] bytes, and one that is
// not UTF-8.
func CheckCollection(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrCollection)
	case len(name) > MaxName:
		return fmt.Errorf("%w: %d bytes, want %d at most", ErrCollection, len(name), MaxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not UTF-8", ErrCollection, name)
	case strings.ContainsAny(name, "\x00$"):
		return fmt.Errorf("%w: %q contains NUL or $", ErrCollection, name)
	case name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, ".."):
		return fmt.Errorf("%w: %q begins or ends with a dot or has two in a row", ErrCollection, name)
	case strings.HasPrefix(name, "system."):
		return fmt.Errorf("%w: %q, names that begin with system. belong to MongoDB", ErrCollection, name)
	}
	return nil
}
