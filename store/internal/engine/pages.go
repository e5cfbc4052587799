package engine

import (
	"errors"
	"fmt"
	"iter"

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
