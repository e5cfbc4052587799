package engine

import (
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Limits of a batch, which is one transaction or message. They let other writers in
// between two batches, and bound the memory for copies of documents.
const (
	batchDocs  = 10_000
	batchBytes = 16 << 20
)

// Row is a document that is ready to be inserted.
type Row struct {
	Index int // index in the documents that were passed to InsertMany
	Key   store.Key
	Doc   bson.Raw
}

// Duplicate returns the RefusedItem for r if another document has its key.
func (r Row) Duplicate() store.RefusedItem {
	return store.RefusedItem{Index: r.Index, Err: fmt.Errorf("%w: %s", store.ErrDuplicate, r.Key)}
}

// Batch is the documents of InsertMany that an engine inserts together. A document is prepared
// (marshaled and checked) when the engine takes it, with Next or Rows. The rows are valid
// until [Database.Insert] returns.
type Batch struct {
	// Careful is scratch space for the engine, kept between the batches of a call. It is
	// initially false.
	Careful bool

	docs    []any // of the call
	o       store.InsertOptions
	next    int // index of the next document
	rows    []Row
	size    int                 // of the documents in rows, in bytes
	refused []store.RefusedItem // documents that could not be prepared
}

// Ordered reports whether the call stops at the first refused document.
func (b *Batch) Ordered() bool { return b.o.Ordered }

// Rest returns the documents that were not taken yet, without preparing them. It returns at
// most the number of documents that still fit into the batch.
func (b *Batch) Rest() []any {
	return b.docs[b.next:min(len(b.docs), b.next+batchDocs-len(b.rows))]
}

// Rows takes all remaining documents of the batch, and returns all its rows.
func (b *Batch) Rows() []Row {
	for b.Next() != nil {
	}
	return b.rows
}

// Next takes the next document and returns its row, or nil after the last document of the batch.
// Documents that cannot be prepared are refused and skipped.
func (b *Batch) Next() *Row {
	for b.next < len(b.docs) && len(b.rows) < batchDocs && b.size < batchBytes {
		i := b.next
		b.next++
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

// InsertMany implements the InsertMany of a [store.Store]. It calls put for one batch after
// the other; put does what [Database.Insert] does.
func InsertMany(docs []any, o *store.InsertOptions, put func(*Batch) ([]store.RefusedItem, error)) ([]store.Key, error) {
	b := Batch{docs: docs, rows: make([]Row, 0, min(len(docs), batchDocs))}
	if o != nil {
		b.o = *o
	}
	keys := make([]store.Key, len(docs))
	var all []store.RefusedItem
	for b.next < len(b.docs) && (!b.o.Ordered || len(all) == 0) {
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
		if !b.o.Ordered || len(refused) == 0 { // an ordered call reports only its first refusal
			all = append(all, b.refused...)
		}
	}
	return keys, refusedError(all)
}

// refusedError returns a [store.BulkError] for the refused items, or nil if there are none.
func refusedError(refused []store.RefusedItem) error {
	if len(refused) == 0 {
		return nil
	}
	slices.SortFunc(refused, func(a, b store.RefusedItem) int { return a.Index - b.Index })
	return &store.BulkError{Refused: refused}
}

// One returns the result of a bulk call, such as InsertMany, that was made for a single item.
// If the item was refused, One returns the error of the [store.RefusedItem] itself.
func One[T any](many []T, err error) (first T, _ error) {
	if refused, ok := errors.AsType[*store.BulkError](err); ok {
		err = refused.Refused[0].Err
	}
	if err != nil {
		return first, err
	}
	return many[0], nil
}

// Change is a swap that is ready to be done.
type Change struct {
	Index int // index in the swaps that were passed to SwapMany
	Key   store.Key
	Old   bson.Raw
	New   bson.Raw // with a new revision; nil to delete Old
}

// Unchanged returns the RefusedItem for c if the stored document is not Old. found is false if no
// document has the key.
func (c Change) Unchanged(found bool) store.RefusedItem {
	var err error
	if found {
		err = fmt.Errorf("%w: %s was written after it was read", store.ErrConflict, c.Key)
	}
	return store.RefusedItem{Index: c.Index, Err: orNotFound(c.Key, found, err)}
}

// SwapMany implements the SwapMany of a [store.Store]. It calls put for one batch of changes
// after the other; put does what [Database.Change] does.
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

// batchLength returns how many changes, from the first on, fit into one batch. It is at least 1.
func batchLength(changes []Change) int {
	size := 0
	for i, c := range changes {
		if size += len(c.Old) + len(c.New); i == batchDocs || i > 0 && size > batchBytes {
			return i
		}
	}
	return len(changes)
}

// prepareSwaps returns the changes for all valid swaps, sorted by key, and the refusals of the
// other swaps.
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
			refused = append(refused, store.RefusedItem{Index: c.Index, Err: fmt.Errorf("%w: %s occurs twice in one call", store.ErrConflict, c.Key)})
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

// swapKey returns the key of the old or new document of a swap. The error wraps
// [store.ErrDocument] if the document has a field _rev that is not a revision.
func swapKey(raw bson.Raw, at positions) (store.Key, error) {
	if at.rev.typ != 0 && !isRevision(at.rev) {
		return store.Key{}, fmt.Errorf("%w: the field %s is not a revision: it must be an ObjectId", store.ErrDocument, store.Revision)
	}
	return store.KeyOf(raw)
}

// revised returns the key of doc, and its bytes with a new revision.
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

// Stamped returns doc with the revision rev added as its last field, or nil if that would be
// too large.
func Stamped(doc bson.Raw, rev objectid.ID) bson.Raw {
	end := len(doc) - 1
	raw, err := joined(doc[4:end], idElement(store.Revision, rev), doc[end:])
	if err != nil {
		return nil
	}
	return raw
}
