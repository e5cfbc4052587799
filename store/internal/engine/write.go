package engine

import (
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
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

// Duplicate refuses r because its key is taken.
func (r Row) Duplicate() store.RefusedItem {
	return store.RefusedItem{Index: r.Index, Err: fmt.Errorf("%w: %s", store.ErrDuplicate, r.Key)}
}

// Batch is documents that go to the database together. Each is prepared when it is asked
// for. The rows are valid until the database has the batch.
type Batch struct {
	// Careful is the engine's own: it is false in the first batch of a call, and what the
	// engine has made it in the others.
	Careful bool

	docs    []any // of the call
	o       store.InsertOptions
	at      int // of the next document
	rows    []Row
	size    int // bytes in rows
	refused []store.RefusedItem
}

// Ordered reports whether the batch ends at the first refused document.
func (b *Batch) Ordered() bool { return b.o.Ordered }

// Rest returns the documents that were not asked for, at most as many as the batch may
// still have.
func (b *Batch) Rest() []any {
	return b.docs[b.at:min(len(b.docs), b.at+batchDocs-len(b.rows))]
}

// Rows prepares all documents and returns them.
func (b *Batch) Rows() []Row {
	for b.Next() != nil {
	}
	return b.rows
}

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
		b.refused = append(b.refused, store.RefusedItem{Index: i, Err: err})
		if b.o.Ordered {
			b.docs = b.docs[:i]
		}
	}
	return nil
}

// InsertMany does the part of a [store.Store]'s InsertMany that does not depend on the
// engine: it calls put with one batch after the other, see [Database].
func InsertMany(docs []any, o *store.InsertOptions, put func(*Batch) ([]store.RefusedItem, error)) ([]store.Key, error) {
	b := Batch{docs: docs, rows: make([]Row, 0, min(len(docs), batchDocs))}
	if o != nil {
		b.o = *o
	}
	keys := make([]store.Key, len(docs))
	var all []store.RefusedItem
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
func refusedError(refused []store.RefusedItem) error {
	if len(refused) == 0 {
		return nil
	}
	slices.SortFunc(refused, func(a, b store.RefusedItem) int { return a.Index - b.Index })
	return &store.BulkError{Refused: refused}
}

// One returns the result of a call for many that was made for one. The error of a
// refusal is returned as it is.
func One[T any](many []T, err error) (first T, _ error) {
	if refused, ok := errors.AsType[*store.BulkError](err); ok {
		err = refused.Refused[0].Err
	}
	if err != nil {
		return first, err
	}
	return many[0], nil
}

// Change is a swap on its way to the database.
type Change struct {
	Index int // its place in the call
	Key   store.Key
	Old   bson.Raw
	New   bson.Raw // with a revision of its own; nil to delete Old
}

// Unchanged refuses c because its document is not Old, by whether one has its key.
func (c Change) Unchanged(found bool) store.RefusedItem {
	var err error
	if found {
		err = fmt.Errorf("%w: %s was written by another since it was read", store.ErrConflict, c.Key)
	}
	return store.RefusedItem{Index: c.Index, Err: orNotFound(c.Key, found, err)}
}

// SwapMany does the part of a [store.Store]'s SwapMany that does not depend on
// the engine. It calls put with changes in the order of their keys, each key
// once, which returns those that the database has refused, in any order. An error
// of put means that none of its changes is known to be done.
func SwapMany(swaps []store.Swap, put func([]Change) ([]store.RefusedItem, error)) ([]bson.Raw, error) {
	changes, refused := prepareSwaps(swaps)
	stored := make([]bson.Raw, len(swaps))
	for len(changes) > 0 {
		batch := changes[:batchLength(changes)]
		changes = changes[len(batch):]
		rest, err := put(batch)
		if err != nil {
			return stored, err
		}
		for _, c := range batch {
			if stored[c.Index] = c.New; c.New == nil {
				stored[c.Index] = c.Old
			}
		}
		for _, r := range rest {
			stored[r.Index] = nil
		}
		refused = append(refused, rest...)
	}
	return stored, refusedError(refused)
}

// batchLength returns how many of the changes go into one batch.
func batchLength(changes []Change) int {
	size := 0
	for i, c := range changes {
		if size += len(c.Old) + len(c.New); i == batchDocs || i > 0 && size > batchBytes {
			return i
		}
	}
	return len(changes)
}

// prepareSwaps returns the swaps that may be done in the order of their keys, and
// refuses the others.
func prepareSwaps(swaps []store.Swap) (changes []Change, refused []store.RefusedItem) {
	changes = make([]Change, 0, len(swaps))
	for i, s := range swaps {
		c, err := prepareSwap(s)
		if err != nil {
			refused = append(refused, store.RefusedItem{Index: i, Err: err})
			continue
		}
		c.Index = i
		changes = append(changes, c)
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return a.Key.Compare(b.Key) })
	kept := changes[:0]
	for _, c := range changes {
		if len(kept) > 0 && kept[len(kept)-1].Key == c.Key {
			refused = append(refused, store.RefusedItem{Index: c.Index, Err: fmt.Errorf("%w: %s is twice in one call", store.ErrConflict, c.Key)})
			continue
		}
		kept = append(kept, c)
	}
	return kept, refused
}

func prepareSwap(s store.Swap) (Change, error) {
	c := Change{Old: s.Old}
	at, err := check(s.Old)
	if err != nil {
		return c, err
	}
	if c.Key, err = swapKey(s.Old, at); err != nil || s.New == nil {
		return c, err
	}
	key, raw, err := revised(s.New)
	if err == nil && key != c.Key {
		err = fmt.Errorf("%w: the new document has %s, the old one %s", store.ErrKey, key, c.Key)
	}
	c.New = raw
	return c, err
}

// swapKey returns the key of a document that takes part in a swap.
func swapKey(raw bson.Raw, at places) (store.Key, error) {
	if at.rev.typ != 0 && !isRevision(at.rev) {
		return store.Key{}, fmt.Errorf("%w: its field %s is not an ObjectId, so it is not a revision", store.ErrDocument, store.Revision)
	}
	return store.KeyOf(raw)
}

// revised returns the bytes to store for doc with a new revision, and their key.
func revised(doc any) (store.Key, bson.Raw, error) {
	raw, at, err := marshal(doc)
	if err != nil {
		return store.Key{}, nil, err
	}
	key, err := swapKey(raw, at)
	if err != nil {
		return store.Key{}, nil, err
	}
	if isRevision(at.rev) {
		return keyed(raw, at)
	}
	e := at.id
	raw, err = joined(raw[e.start:e.end], idElement(store.Revision, objectid.New()), raw[4:e.start], raw[e.end:])
	return key, raw, err
}

// RevisionOf returns the revision of a document; ok is false if it has none.
func RevisionOf(doc bson.Raw) (rev objectid.ID, ok bool) {
	v, err := doc.LookupErr(store.Revision)
	if err != nil || v.Type != bson.TypeObjectID || len(v.Value) != len(rev) {
		return rev, false
	}
	return objectid.ID(v.Value), true
}

// Stamped returns doc with the revision rev at its end, or nil if it would be too
// large.
func Stamped(doc bson.Raw, rev objectid.ID) bson.Raw {
	end := len(doc) - 1
	raw, err := joined(doc[4:end], idElement(store.Revision, rev), doc[end:])
	if err != nil {
		return nil
	}
	return raw
}
