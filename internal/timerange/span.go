// Package timerange turns times as people type them into ranges of ids.
//
// Start with [Span], a period as somebody typed it, and [Span.Range]. [Parse] reads a single
// time. Package query writes a range as a query.
//
// The command, the API and the web page show the errors to the person who typed the time, so
// the errors have no package name.
package timerange

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/oidkit/oid/objectid"
)

// Span is a period as somebody typed it. An empty field means that this end is open.
type Span struct {
	Since string // the beginning: a duration before now (24h, 7d, 2 months), or a time that is not in the future
	From  string // the beginning as any time; only one of Since and From may be set
	To    string // the end, excluded; +2h counts from From, and 10:00 is on the day of From
}

// Range returns the ids that were created in the span; the zero Span contains every id. The
// beginning is rounded down to a second, and the end up. The errors are those of [Span.Times].
// It is also an error if the span does not end after it begins, or if no ObjectId can have its
// times, because it ends before 1970 or begins after 2106.
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

// Times returns the beginning and the end of the span; nil means an open end. If a field
// cannot be read, the error is a [*FieldError]. Since and From together are an error.
func (s Span) Times(now time.Time) (from, to *time.Time, err error) {
	if s.Since != "" && s.From != "" {
		return nil, nil, errors.New("since and from are both given: give one of them")
	}
	start := now // the time from which a To such as +2h counts
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

// parseSince reads a duration without a sign, or a time as [Parse] does, which must not be in
// the future.
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
