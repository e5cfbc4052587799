package lock

import (
	"fmt"
	"strings"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// Owner names one lease: the process that asked for it, and an id of its own
// that carries the second in which it was asked for.
//
//	10.0.0.7:8080:1795166651598985:4711/507f1f77bcf86cd799439011
//
// The zero Owner means "nobody" and is written as the empty text.
type Owner struct {
	Process gpid.GPID
	ID      objectid.ID
}

// ParseOwner reads the text that [Owner.String] writes. Every error wraps
// [ErrInvalid].
func ParseOwner(s string) (Owner, error) {
	process, id, found := strings.Cut(s, "/")
	if !found {
		return Owner{}, fmt.Errorf("%w owner: no slash between process and id: %.200q", ErrInvalid, s)
	}
	var o Owner
	var err error
	if o.Process, err = gpid.Parse(process); err != nil {
		return Owner{}, fmt.Errorf("%w owner: %w", ErrInvalid, err)
	}
	if o.ID, err = objectid.Parse(id); err != nil {
		return Owner{}, fmt.Errorf("%w owner: %w", ErrInvalid, err)
	}
	if o.ID.String() != id {
		return Owner{}, fmt.Errorf("%w owner: id in upper case: %q", ErrInvalid, s)
	}
	return o, nil
}

// IsZero reports whether o is nobody.
func (o Owner) IsZero() bool { return o == Owner{} }

// String returns process/id, or the empty string for the zero Owner.
func (o Owner) String() string {
	if o.IsZero() {
		return ""
	}
	return o.Process.String() + "/" + o.ID.String()
}

// MarshalText returns what [Owner.String] returns. It implements
// [encoding.TextMarshaler]; the error is always nil.
func (o Owner) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads text as [ParseOwner] does, or sets the zero Owner if text
// is empty. On an error o is left as it was.
func (o *Owner) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*o = Owner{}
		return nil
	}
	parsed, err := ParseOwner(string(text))
	if err != nil {
		return err
	}
	*o = parsed
	return nil
}
