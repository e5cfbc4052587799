package engine

import (
	"strings"

	"github.com/oidkit/oid/store"
)

// Bounds returns q's Range and After as one range. The lower bound is not part of
// it if open is true.
func Bounds(q store.Query) (r store.Range, open bool) {
	r = q.Range
	switch {
	case q.After.IsZero():
	case q.Descending:
		if r.To.IsZero() || q.After.Compare(r.To) < 0 {
			r.To = q.After
		}
	case q.After.Compare(r.From) >= 0:
		r.From, open = q.After, true
	}
	return r, open
}

// Where returns a range as an SQL condition, see Bounds. It calls argument for each bound,
// which returns the name of that as an argument of the statement.
func Where(r store.Range, open bool, argument func(bound store.Key) string) string {
	var terms []string
	if !r.From.IsZero() {
		operator := ">="
		if open {
			operator = ">"
		}
		terms = append(terms, "_id "+operator+" "+argument(r.From))
	}
	if !r.To.IsZero() {
		terms = append(terms, "_id < "+argument(r.To))
	}
	if terms == nil {
		return "true"
	}
	return strings.Join(terms, " AND ")
}
