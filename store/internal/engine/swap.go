package engine

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Swap does one swap with SwapMany.
func Swap(ctx context.Context, s store.Store, collection string, old bson.Raw, new any) (bson.Raw, error) {
	if new == nil { // SwapMany would delete
		_, _, err := marshal(new)
		return nil, err
	}
	return one(s.SwapMany(ctx, collection, []store.Swap{{Old: old, New: new}}))
}

// DeleteIf does one conditional delete with SwapMany.
func DeleteIf(ctx context.Context, s store.Store, collection string, old bson.Raw) error {
	_, err := one(s.SwapMany(ctx, collection, []store.Swap{{Old: old}}))
	return err
}

// Change is a swap on its way to the database.
type Change struct {
	Index int // its place in the call
	Key   store.Key
	Old   bson.Raw
	New   bson.Raw // with a revision of its own; nil to delete Old
}

// SwapMany does the part of a [store.Store]'s SwapMany that does not depend on
// the engine. It calls put with changes in the order of their keys, each key
// once, which returns those that the database has refused, in any order. An error
// of put means that none of its changes is known to be done.
func SwapMany(swaps []store.Swap, put func([]Change) ([]store.Refusal, error)) ([]bson.Raw, error) {
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
func prepareSwaps(swaps []store.Swap) (changes []Change, refused []store.Refusal) {
	changes = make([]Change, 0, len(swaps))
	for i, s := range swaps {
		c, err := prepareSwap(s)
		if err != nil {
			refused = append(refused, store.Refusal{Index: i, Err: err})
			continue
		}
		c.Index = i
		changes = append(changes, c)
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return a.Key.Compare(b.Key) })
	kept := changes[:0]
	for _, c := range changes {
		if len(kept) > 0 && kept[len(kept)-1].Key == c.Key {
			refused = append(refused, store.Refusal{Index: c.Index, Err: fmt.Errorf("%w: %s is twice in one call", store.ErrConflict, c.Key)})
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
	switch {
	case at.id.typ == 0:
		return store.Key{}, errNoID
	case at.rev.typ != 0 && !isRevision(at.rev):
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
