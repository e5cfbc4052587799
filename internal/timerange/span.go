// Package timerange turns times as people type them into ranges of ids, and ranges
// of ids into queries to paste.
//
// Start with [Span], the two ends of a period as somebody typed them, and [Forms],
// the languages in which a range can be written. The command, the API and the web
// page read and write with these, so the texts of errors are for the person who
// typed the time.
package timerange

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/oidkit/oid/objectid"
)

// Span is a period as somebody typed it. Empty fields are open ends.
type Span struct {
	Since string // a duration up to now (24h, 7d, 2 months), or a beginning that is not in the future
	From  string // the beginning, in place of Since
	To    string // the end, not included; +2h counts from From, and 10:00 is on its day
}

// Range returns the ids of the span: every id for the zero Span. From is rounded
// down to a second and To up. In addition to the errors of [Span.Times], it is an
// error if the span ends before it begins, or is outside the times that an id can
// hold, 1970 to 2106.
func (s Span) Range(now time.Time) (ids objectid.Range, err error) {
	from, to, err := s.Times(now)
	switch {
	case err != nil:
		return ids, err
	case from != nil && from.Unix() > math.MaxUint32:
		return ids, fmt.Errorf("the range is empty: it begins at %s, and the last second that an ObjectId can hold is %s", rfc3339(*from), rfc3339(time.Unix(math.MaxUint32, 0)))
	case to != nil && !to.After(time.Unix(0, 0)):
		return ids, fmt.Errorf("the range is empty: it ends at %s, and the first second that an ObjectId can hold is %s", rfc3339(*to), rfc3339(time.Unix(0, 0)))
	case from != nil && to != nil && !from.Before(*to):
		return ids, fmt.Errorf("the range is empty: it ends at %s and begins at %s", rfc3339(*to), rfc3339(*from))
	}
	if from != nil {
		ids.From = objectid.MinAt(*from)
	}
	if to != nil {
		ids.To = objectid.Until(*to).To
	}
	return ids, nil
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// FieldError is an error about one field of a [Span].
type FieldError struct {
	Field string // since, from or to
	Err   error
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// Times returns the ends of the span, nil where it is open. If a field cannot be
// read, the error is a [*FieldError].
func (s Span) Times(now time.Time) (from, to *time.Time, err error) {
	if s.Since != "" && s.From != "" {
		return nil, nil, errors.New("since and from are both given: give one of them")
	}
	start := now // of what To counts from
	for _, end := range []struct {
		field, text string
		parse       func(string) (time.Time, error)
		time        **time.Time
	}{
		{"since", s.Since, func(s string) (time.Time, error) { return parseSince(s, now) }, &from},
		{"from", s.From, func(s string) (t time.Time, err error) { start, err = Parse(s, now); return start, err }, &from},
		{"to", s.To, func(s string) (time.Time, error) { return parseAfter(s, now, start) }, &to},
	} {
		if end.text == "" {
			continue
		}
		t, err := end.parse(end.text)
		if err != nil {
			return nil, nil, &FieldError{end.field, err}
		}
		*end.time = &t
	}
	return from, to, nil
}

// parseSince reads a time that is not in the future as [Parse] does, or a duration
// without a sign.
func parseSince(s string, now time.Time) (time.Time, error) {
	if d, err := parseDistance(strings.ToLower(strings.TrimSpace(s))); err == nil && d != (distance{}) {
		return d.before(now), nil
	}
	t, err := Parse(s, now)
	if err == nil && t.After(now) {
		return time.Time{}, fmt.Errorf("time %q: it is in the future", s)
	}
	return t, err
}
