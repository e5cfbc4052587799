package engine

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// One transaction or message takes as many documents as this, so that other
// writers get their turn and little of a large call is in memory twice.
const (
	batchDocs  = 10_000
	batchBytes = 16 << 20
)

// Row is a document on its way to the database.
type Row struct {
	Index int // its place in the call
	Key   store.Key
	Doc   bson.Raw
}

// InsertMany does the part of a [store.Store]'s InsertMany that does not depend
// on the engine. It calls put with rows to insert, never none, which returns
// those that the database has refused, in any order. If o asks for order, put
// stops at the first row that it refuses and returns that one alone. An error of
// put means that none of its rows is known to be stored.
func InsertMany(docs []any, o *store.InsertOptions, put func([]Row) ([]store.Refusal, error)) ([]store.Key, error) {
	if o == nil {
		o = new(store.InsertOptions)
	}
	in := insertion{put: put, ordered: o.Ordered, keys: make([]store.Key, len(docs)), batch: make([]Row, 0, min(len(docs), batchDocs))}
	for i, doc := range docs {
		key, raw, err := Insertion(doc, o.Generator)
		if err == nil {
			err = in.add(Row{i, key, raw})
		} else {
			err = in.refuse(store.Refusal{Index: i, Err: err})
		}
		if err != nil {
			return in.keys, err
		}
		if in.stopped() {
			break
		}
	}
	if err := in.flush(); err != nil {
		return in.keys, err
	}
	return in.keys, refusedError(in.refused)
}

// insertion is one call of InsertMany.
type insertion struct {
	put     func([]Row) ([]store.Refusal, error)
	ordered bool
	keys    []store.Key
	refused []store.Refusal

	batch []Row
	size  int // bytes in batch
}

func (in *insertion) stopped() bool { return in.ordered && len(in.refused) > 0 }

func (in *insertion) add(r Row) error {
	in.batch = append(in.batch, r)
	in.size += len(r.Doc)
	if len(in.batch) == batchDocs || in.size >= batchBytes {
		return in.flush()
	}
	return nil
}

// refuse notes a document that cannot be stored. In an ordered call an earlier
// one may have to be refused instead.
func (in *insertion) refuse(r store.Refusal) error {
	if in.ordered {
		if err := in.flush(); err != nil || in.stopped() {
			return err
		}
	}
	in.refused = append(in.refused, r)
	return nil
}

// flush stores the batch.
func (in *insertion) flush() error {
	if in.stopped() || len(in.batch) == 0 {
		return nil
	}
	refused, err := in.put(in.batch)
	if err != nil {
		return err
	}
	for _, r := range in.batch {
		if in.ordered && len(refused) > 0 && r.Index >= refused[0].Index {
			break
		}
		in.keys[r.Index] = r.Key
	}
	for _, r := range refused {
		in.keys[r.Index] = store.Key{}
	}
	in.refused = append(in.refused, refused...)
	in.batch, in.size = in.batch[:0], 0
	return nil
}

// refusedError returns the error for what was refused, nil for nothing.
func refusedError(refused []store.Refusal) error {
	if len(refused) == 0 {
		return nil
	}
	slices.SortFunc(refused, func(a, b store.Refusal) int { return a.Index - b.Index })
	return &store.RefusedError{Refused: refused}
}

// Insert does one insert with InsertMany.
func Insert(ctx context.Context, s store.Store, collection string, doc any) (store.Key, error) {
	return one(s.InsertMany(ctx, collection, []any{doc}, nil))
}

// one returns the result of a call for many that was made for one. The error of a
// refusal is returned as it is.
func one[T any](many []T, err error) (first T, _ error) {
	if refused, ok := errors.AsType[*store.RefusedError](err); ok {
		err = refused.Refused[0].Err
	}
	if err != nil {
		return first, err
	}
	return many[0], nil
}
