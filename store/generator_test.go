package store_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

// Documents without an _id get one from the store's generator, or from that of the
// call; everything else is as without a generator.
func TestWithGenerator(t *testing.T) {
	plain := memstore.New()
	if got := store.WithGenerator(plain, nil); got != store.Store(plain) {
		t.Errorf("with a nil generator: %v, want the store itself", got)
	}
	mine, others := [4]byte{1}, [4]byte{2}
	s := store.WithGenerator(plain, generatorOf(t, mine))
	check := func(key store.Key, err error, block [4]byte) {
		t.Helper()
		if id, ok := key.ID(); err != nil || !ok || [4]byte(id[4:8]) != block {
			t.Errorf("the key is %v, %v, want an id of the process block %v", key, err, block)
		}
	}
	key, err := s.Insert(t.Context(), "c", bson.D{{Key: "n", Value: 1}})
	check(key, err, mine)
	if _, err := s.Get(t.Context(), "c", key); err != nil {
		t.Error(err)
	}
	for _, o := range []*store.InsertOptions{nil, {Ordered: true}} {
		keys, err := s.InsertMany(t.Context(), "c", []any{bson.D{}, bson.D{}}, o)
		if len(keys) != 2 {
			t.Fatalf("InsertMany with %+v: %v, %v", o, keys, err)
		}
		check(keys[1], err, mine)
	}
	keys, err := s.InsertMany(t.Context(), "c", []any{bson.D{}}, &store.InsertOptions{Generator: generatorOf(t, others)})
	check(keys[0], err, others)

	// The options reach the store, and a refusal is that of the document.
	same := bson.D{{Key: "_id", Value: key}}
	if _, err := s.InsertMany(t.Context(), "c", []any{same, bson.D{{Key: "_id", Value: 7}}}, &store.InsertOptions{Ordered: true}); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("InsertMany of a key that is there: %v, want ErrDuplicate", err)
	}
	if _, err := s.Get(t.Context(), "c", store.Int(7)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the document after the refused one: %v, want ErrNotFound", err)
	}
	var refused *store.RefusedError
	if key, err := s.Insert(t.Context(), "c", same); !errors.Is(err, store.ErrDuplicate) || errors.As(err, &refused) || !key.IsZero() {
		t.Errorf("Insert of a key that is there: %v, %v, want the error of the document alone", key, err)
	}
}

func generatorOf(t *testing.T, block [4]byte) *objectid.Generator {
	t.Helper()
	g, err := objectid.NewGenerator(&objectid.Options{Block: &block})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
