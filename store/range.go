package store

import "github.com/oidkit/oid/objectid"

// Range is the keys from From, included, to To, not included. A zero From is no
// lower bound, and a zero To is no upper bound: the zero Range is every key. A
// range whose To is set and not greater than its From is empty.
type Range struct{ From, To Key }

// IDs returns the range of the ObjectIds in r: numbers and strings are not part
// of it even if r has no lower bound.
func IDs(r objectid.Range) Range {
	out := Range{From: ID(r.From)}
	if !r.To.IsZero() {
		out.To = ID(r.To)
	}
	return out
}

// Contains reports whether key is in r. The zero Key is in no range.
func (r Range) Contains(key Key) bool {
	return !key.IsZero() && key.Compare(r.From) >= 0 && (r.To.IsZero() || key.Compare(r.To) < 0)
}

// IsEmpty reports whether no key is in r.
func (r Range) IsEmpty() bool { return !r.To.IsZero() && r.From.Compare(r.To) >= 0 }

// Query selects the documents that [Store.Find] returns. The zero Query selects
// all, smallest key first.
type Query struct {
	// Range is the keys to return.
	Range

	// After, if not zero, is where to continue: only documents that come after
	// this key in the order of the query, whether or not a document has it.
	After Key

	// Descending asks for the greatest key first.
	Descending bool

	// Limit, if above 0, is the greatest number of documents to return.
	Limit int
}
