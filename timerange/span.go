package timerange

import (
	"errors"
	"fmt"
	"time"

	"github.com/xhit/go-str2duration/v2"

	"github.com/oidkit/oid/objectid"
)

// Span is a stretch of time as somebody typed it. Empty fields are open ends.
type Span struct {
	Since string // a duration up to now (24h, 7d), or the beginning
	From  string // the beginning, in place of Since
	To    string // the end, not included
}

// Range returns the ids of the span: every id for the zero Span. From is rounded
// down to a second and To up. The errors are those of [Span.Times]; a span that
// ends before it begins is an error too.
func (s Span) Range(now time.Time) (objectid.Range, error) {
	from, to, err := s.Times(now)
	switch {
	case err != nil:
		return objectid.Range{}, err
	case from != nil && to != nil && !from.Before(*to):
		return objectid.Range{}, fmt.Errorf("the range is empty: it ends at %s and begins at %s", rfc3339(*to), rfc3339(*from))
	case from != nil && to != nil:
		return objectid.Between(*from, *to), nil
	case from != nil:
		return objectid.Since(*from), nil
	case to != nil:
		return objectid.Until(*to), nil
	default:
		return objectid.Range{}, nil
	}
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Times returns the ends of the span, nil where it is open. The errors begin with
// the name of the field in lower case.
func (s Span) Times(now time.Time) (from, to *time.Time, err error) {
	read := func(field, text string) *time.Time {
		if text == "" || err != nil {
			return nil
		}
		t, parseErr := Parse(text, now)
		if parseErr != nil {
			err = fmt.Errorf("%s: %w", field, parseErr)
		}
		return &t
	}
	if s.Since != "" && s.From != "" {
		return nil, nil, errors.New("since and from both say where to begin: give one of them")
	}
	if ago, durationErr := str2duration.ParseDuration(s.Since); durationErr == nil && !isDigits(s.Since) {
		t := now.Add(-ago.Abs())
		from = &t
	} else {
		from = read("since", s.Since)
	}
	if s.From != "" {
		from = read("from", s.From)
	}
	to = read("to", s.To)
	return from, to, err
}
