package engine

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// errEnough is what yield returns when the caller wants no more documents.
var errEnough = errors.New("no more documents are wanted")

// Sequence returns the sequence of the documents for which run calls yield. If run fails, the
// sequence ends with that error. If yield returns an error, the caller of the sequence wants
// no more documents, and run must return an error.
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

// Pages calls yield for the documents of q. It reads them in pages, so that a slow caller
// holds neither a connection nor a snapshot, for which a database would have to keep deleted
// data.
//
// The function read reads one page: it returns the first documents of the query that it is given,
// at most limit, and the limit for the next page, or 0 if there are no more documents. The
// parameter limit of Pages is the limit for the first page.
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
		if more { // find the key now: yield may change the documents
			limit = next
			if q.After, err = store.KeyOf(page[len(page)-1]); err != nil {
				return fmt.Errorf("read the next page: %w", err)
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

// Bounds returns the range of keys that q selects with its Range and its After. If open is
// true, the range does not contain its lower bound.
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

// Where returns the SQL condition that _id is in r. If open is true, r does not contain its
// lower bound. For each bound, Where calls argument, which must add the bound to the arguments
// of the statement and return its placeholder, such as $1.
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
