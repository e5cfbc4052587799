package store

import "github.com/oidkit/oid/objectid"

// Range is the keys from From, included, to To, not included. A zero From is no
// lower bound, and a zero To is no upper bound: the zero Range is every key. A
// range whose To is set and not greater than its From holds nothing.
type Range struct{ From, To Key }

// Ids returns the range of the ObjectIds in r: numbers and strings are not part
// of it even where r has no lower bound.
func Ids(r objectid.Range) Range {
	out := Range{From: ID(r.From)}
	if !r.To.IsZero() {
		out.To = ID(r.To)
	}
	return out
}

// Contains reports whether key lies in r. The zero Key lies in none.
func (r Range) Contains(key Key) bool {
	return !key.IsZero() && key.Compare(r.From) >= 0 && (r.To.IsZero() || key.Compare(r.To) < 0)
}

// IsEmpty reports whether no key lies in r.
func (r Range) IsEmpty() bool { return !r.To.IsZero() && r.From.Compare(r.To) >= 0 }

// Query says which documents [Store.Find] returns. The zero Query is all of
// them, smallest key first.
type Query struct {
	// Range holds the keys asked for.
	Range

	// After, if not zero, is where to go on: only documents that come after
	// this key in the order of the query, be there one with this key or not.
	After Key

	// Descending asks for the greatest key first.
	Descending bool

	// Limit, if above 0, is the greatest number of documents to return.
	Limit int
}

// Bounds returns q's Range and After as one range, for engines. The lower bound
// is not part of it if open is true.
func (q Query) Bounds() (r Range, open bool) {
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
