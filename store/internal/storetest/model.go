package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// machine compares a collection with a model, a sorted map. rapid calls its exported methods in
// random order.
type machine struct {
	s          store.Store
	collection string
	keys       []store.Key // sorted
	docs       map[store.Key]bson.Raw
	old        []bson.Raw // documents that were read earlier, to be swapped
}

// testStateMachine makes the same random changes to a collection and to a sorted map, and
// looks for a difference between them.
func testStateMachine(t testing.TB, s store.Store) {
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		m := &machine{s: s, collection: fmt.Sprintf("run%d", runs), docs: map[store.Key]bson.Raw{}}
		r.Repeat(rapid.StateMachineActions(m))
	})
}

// key draws a key from a few values, so that many documents have the same key.
func (m *machine) key(r *rapid.T, label string) store.Key {
	n := rapid.Int64Range(0, 9).Draw(r, label)
	switch rapid.IntRange(0, 3).Draw(r, label+" kind") {
	case 0:
		return store.IntKey(n)
	case 1:
		return float(float64(n) + 0.5)
	case 2:
		return text(string(rune('a' + n)))
	}
	return store.IDKey(objectid.ID{3: byte(n), 11: 1})
}

func (m *machine) bound(r *rapid.T, label string) store.Key {
	if rapid.IntRange(0, 3).Draw(r, label+" given") == 0 {
		return store.Key{}
	}
	return m.key(r, label)
}

func (m *machine) span(r *rapid.T) store.Range {
	return store.Range{From: m.bound(r, "from"), To: m.bound(r, "to")}
}

func (m *machine) doc(r *rapid.T) (store.Key, bson.Raw) {
	key := m.key(r, "key")
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: key}, {Key: "v", Value: rapid.Int32().Draw(r, "v")}})
	if err != nil {
		r.Fatal(err)
	}
	return key, doc
}

func (m *machine) put(key store.Key, doc bson.Raw) {
	if i, found := slices.BinarySearchFunc(m.keys, key, store.Key.Compare); !found {
		m.keys = slices.Insert(m.keys, i, key)
	}
	m.docs[key] = doc
}

// Insert compares one call of Insert with the model.
func (m *machine) Insert(r *rapid.T) {
	key, doc := m.doc(r)
	got, err := m.s.Insert(r.Context(), m.collection, doc)
	if m.docs[key] != nil {
		if !errors.Is(err, store.ErrDuplicate) {
			r.Fatalf("Insert of a taken key: %v", err)
		}
		return
	}
	if err != nil || got != key {
		r.Fatalf("Insert = %v, %v, want %v", got, err, key)
	}
	m.put(key, doc)
}

// InsertMany compares one call of InsertMany, ordered or not, with the model.
func (m *machine) InsertMany(r *rapid.T) {
	o := &store.InsertOptions{Ordered: rapid.Bool().Draw(r, "ordered")}
	var docs []any
	var want []int // indexes of the documents that must be refused
	for i := range rapid.IntRange(0, 5).Draw(r, "n") {
		key, doc := m.doc(r)
		docs = append(docs, doc)
		switch {
		case o.Ordered && want != nil:
		case m.docs[key] != nil:
			want = append(want, i)
		default:
			m.put(key, doc)
		}
	}
	_, err := m.s.InsertMany(r.Context(), m.collection, docs, o)
	var got []int
	var refused *store.BulkError
	if errors.As(err, &refused) {
		for _, d := range refused.Refused {
			got = append(got, d.Index)
		}
	} else if err != nil {
		r.Fatal(err)
	}
	if !slices.Equal(got, want) {
		r.Fatalf("InsertMany refused %v, want %v", got, want)
	}
}

// Replace compares one call of Replace with the model.
func (m *machine) Replace(r *rapid.T) {
	key, doc := m.doc(r)
	err := m.s.Replace(r.Context(), m.collection, doc)
	if m.docs[key] == nil {
		if !errors.Is(err, store.ErrNotFound) {
			r.Fatalf("Replace of a missing key: %v", err)
		}
		return
	}
	if err != nil {
		r.Fatal(err)
	}
	m.put(key, doc)
}

// Read keeps a document so that SwapMany may swap it later.
func (m *machine) Read(r *rapid.T) {
	if len(m.keys) > 0 {
		m.old = append(m.old, m.docs[rapid.SampledFrom(m.keys).Draw(r, "read")])
	}
}

// SwapMany compares one call of SwapMany, which may also delete, with the model.
func (m *machine) SwapMany(r *rapid.T) {
	if len(m.old) == 0 {
		return
	}
	var swaps []store.Swap
	refused := map[int]error{}
	taken := map[store.Key]bool{}
	for i := range rapid.IntRange(1, 4).Draw(r, "n") {
		s := store.Swap{Old: rapid.SampledFrom(m.old).Draw(r, "old")}
		key, err := store.KeyOf(s.Old)
		if err != nil {
			r.Fatal(err)
		}
		if rapid.IntRange(0, 3).Draw(r, "delete") > 0 {
			s.New = bson.D{{Key: "v", Value: rapid.Int32().Draw(r, "v")}, {Key: "_id", Value: key}}
		}
		swaps = append(swaps, s)
		switch now := m.docs[key]; {
		case taken[key], now != nil && !bytes.Equal(now, s.Old):
			refused[i] = store.ErrConflict
		case now == nil:
			refused[i] = store.ErrNotFound
		}
		taken[key] = true
	}
	got, err := m.s.SwapMany(r.Context(), m.collection, swaps)
	var e *store.BulkError
	if !errors.As(err, &e) {
		if err != nil {
			r.Fatal(err)
		}
		e = new(store.BulkError)
	}
	if len(e.Refused) != len(refused) {
		r.Fatalf("SwapMany refused %v, want %v", e.Refused, refused)
	}
	for _, d := range e.Refused {
		if !errors.Is(d.Err, refused[d.Index]) {
			r.Fatalf("SwapMany refused %d: %v, want %v", d.Index, d.Err, refused[d.Index])
		}
	}
	for i, s := range swaps {
		key, _ := store.KeyOf(s.Old)
		switch {
		case refused[i] != nil:
			if got[i] != nil {
				r.Fatalf("refused swap %d has the result %v", i, got[i])
			}
		case s.New == nil:
			m.remove(func(k store.Key) bool { return k == key })
		default:
			m.put(key, got[i])
		}
	}
}

// Delete compares one call of Delete with the model.
func (m *machine) Delete(r *rapid.T) {
	key := m.key(r, "key")
	err := m.s.Delete(r.Context(), m.collection, key)
	if _, found := m.docs[key]; found != (err == nil) || !found && !errors.Is(err, store.ErrNotFound) {
		r.Fatalf("Delete(%v): %v", key, err)
	}
	m.remove(func(k store.Key) bool { return k == key })
}

// DeleteRange compares one call of DeleteRange with the model.
func (m *machine) DeleteRange(r *rapid.T) {
	if rapid.IntRange(0, 4).Draw(r, "rarely") > 0 {
		return
	}
	span := m.span(r)
	want := m.remove(span.Contains)
	if got, err := m.s.DeleteRange(r.Context(), m.collection, span); got != int64(want) || err != nil {
		r.Fatalf("DeleteRange(%v) = %d, %v, want %d", span, got, err, want)
	}
}

func (m *machine) remove(gone func(store.Key) bool) int {
	before := len(m.keys)
	m.keys = slices.DeleteFunc(m.keys, func(key store.Key) bool {
		if gone(key) {
			delete(m.docs, key)
			return true
		}
		return false
	})
	return before - len(m.keys)
}

// Find compares one call of Find with the model.
func (m *machine) Find(r *rapid.T) {
	q := store.Query{Range: m.span(r), After: m.bound(r, "after"), Descending: rapid.Bool().Draw(r, "descending"), Limit: rapid.IntRange(0, 5).Draw(r, "limit")}
	keys := slices.Clone(m.keys)
	if q.Descending {
		slices.Reverse(keys)
	}
	var want []store.Key
	for _, key := range keys {
		passed := q.After.IsZero() || q.Descending && key.Compare(q.After) < 0 || !q.Descending && key.Compare(q.After) > 0
		if q.Contains(key) && passed && (q.Limit == 0 || len(want) < q.Limit) {
			want = append(want, key)
		}
	}
	i := 0
	for doc, err := range m.s.Find(r.Context(), m.collection, q) {
		if err != nil {
			r.Fatal(err)
		}
		if i == len(want) || !bytes.Equal(doc, m.docs[want[i]]) {
			r.Fatalf("Find %+v returned %v at index %d, want keys %v", q, doc, i, want)
		}
		i++
	}
	if i != len(want) {
		r.Fatalf("Find %+v returned %d documents, want keys %v", q, i, want)
	}
}

// Check compares the number of documents, and one of them, with the model. rapid calls it
// after each step.
func (m *machine) Check(r *rapid.T) {
	if n, err := m.s.Count(r.Context(), m.collection, store.Range{}); n != int64(len(m.keys)) || err != nil {
		r.Fatalf("Count = %d, %v, want %d", n, err, len(m.keys))
	}
	if len(m.keys) == 0 {
		return
	}
	key := rapid.SampledFrom(m.keys).Draw(r, "sample")
	if doc, err := m.s.Get(r.Context(), m.collection, key); !bytes.Equal(doc, m.docs[key]) || err != nil {
		r.Fatalf("Get(%v) = %v, %v, want %v", key, doc, err, m.docs[key])
	}
}
