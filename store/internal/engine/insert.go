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

// Batch is documents that go to the database together. Each is prepared when it is asked
// for.
type Batch struct {
	docs    []any // of the call
	o       store.InsertOptions
	at      int // of the next document
	rows    []Row
	size    int // bytes in rows
	refused []store.Refusal
}

// Cap returns how many rows there are at most.
func (b *Batch) Cap() int { return cap(b.rows) }

// Next prepares a document and returns it. It returns nil after the last.
func (b *Batch) Next() *Row {
	for b.at < len(b.docs) && len(b.rows) < batchDocs && b.size < batchBytes {
		i := b.at
		b.at++
		key, raw, err := Insertion(b.docs[i], b.o.Generator)
		if err == nil {
			b.rows = append(b.rows, Row{i, key, raw})
			b.size += len(raw)
			return &b.rows[len(b.rows)-1]
		}
		b.refused = append(b.refused, store.Refusal{Index: i, Err: err})
		if b.o.Ordered {
			b.docs = b.docs[:i]
		}
	}
	return nil
}

// InsertMany does the part of a [store.Store]'s InsertMany that does not depend
// on the engine. It calls put with rows to insert, never none, which returns
// those that the database has refused, in any order. If o asks for order, put
// stops at the first row that it refuses and returns that one alone. An error of
// put means that none of its rows is known to be stored.
func InsertMany(docs []any, o *store.InsertOptions, put func([]Row) ([]store.Refusal, error)) ([]store.Key, error) {
	return InsertBatches(docs, o, func(b *Batch) ([]store.Refusal, error) {
		for b.Next() != nil {
		}
		if len(b.rows) == 0 {
			return nil, nil
		}
		return put(b.rows)
	})
}

// InsertBatches is [InsertMany] for a put that asks for one row after the other. The rows
// are valid until it returns, and there may be none. It asks for one at least; what it has
// not asked for is in the next batch.
func InsertBatches(docs []any, o *store.InsertOptions, put func(*Batch) ([]store.Refusal, error)) ([]store.Key, error) {
	b := Batch{docs: docs, rows: make([]Row, 0, min(len(docs), batchDocs))}
	if o != nil {
		b.o = *o
	}
	keys := make([]store.Key, len(docs))
	var all []store.Refusal
	for b.at < len(b.docs) && (!b.o.Ordered || len(all) == 0) {
		b.rows, b.size, b.refused = b.rows[:0], 0, nil
		refused, err := put(&b)
		if err != nil {
			return keys, err
		}
		for _, r := range b.rows {
			if b.o.Ordered && len(refused) > 0 && r.Index >= refused[0].Index {
				break
			}
			keys[r.Index] = r.Key
		}
		for _, r := range refused {
			keys[r.Index] = store.Key{}
		}
		all = append(all, refused...)
		if !b.o.Ordered || len(refused) == 0 { // in order the first alone is reported
			all = append(all, b.refused...)
		}
	}
	return keys, refusedError(all)
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
