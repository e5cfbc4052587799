package store_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

// Documents without an _id get an id from the generator in the options.
func TestInsertManyWithGenerator(t *testing.T) {
	block := [4]byte{1}
	g, err := objectid.NewGenerator(&objectid.Options{Block: &block})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := memstore.New().InsertMany(t.Context(), "c", []any{bson.D{{Key: "_id", Value: 7}}, bson.D{}}, &store.InsertOptions{Generator: g})
	if err != nil || keys[0] != store.IntKey(7) {
		t.Fatalf("InsertMany: %v, %v", keys, err)
	}
	if id, ok := keys[1].ID(); !ok || [4]byte(id[4:8]) != block {
		t.Errorf("the key is %v, want an id of the process block %v", keys[1], block)
	}
}
