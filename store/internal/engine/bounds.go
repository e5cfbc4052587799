package engine

import "github.com/oidkit/oid/store"

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
