package engine

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// errEnough is the error of a yield whose caller wants no more documents.
var errEnough = errors.New("no more documents are wanted")

// Sequence returns the documents that run yields, and then its error. An error of yield
// means that no more are wanted: run returns it, or another one.
func Sequence(run func(yield func(bson.Raw) error) error) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		enough := false
		err := run(func(doc bson.Raw) error {
			if enough = !yield(doc, nil); enough {
				return errEnough
			}
			return nil
		})
		if err != nil && !enough {
			yield(nil, err)
		}
	}
}

// Pages yields the documents of q, page after page. It calls read for the first documents
// of q, at most limit, which returns how many the page after them should have, or 0 if
// there is none. So a caller who takes a long time holds neither a connection nor a
// snapshot, for which a database keeps what was deleted meanwhile.
func Pages(q store.Query, limit int, read func(q store.Query, limit int) (page []bson.Raw, next int, err error), yield func(bson.Raw) error) error {
	for left := q.Limit; ; {
		if q.Limit > 0 {
			limit = min(limit, left)
		}
		if r, _ := Bounds(q); r.IsEmpty() {
			return nil
		}
		page, next, err := read(q, limit)
		if err != nil {
			return err
		}
		left -= len(page)
		more := next > 0 && left != 0
		if more { // before the documents are the caller's
			limit = next
			if q.After, err = store.KeyOf(page[len(page)-1]); err != nil {
				return fmt.Errorf("read on: %w", err)
			}
		}
		for _, doc := range page {
			if err := yield(doc); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

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
