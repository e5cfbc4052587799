package mongostore_test

import (
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

func documents(keys ...int32) []any {
	var docs []any
	for _, key := range keys {
		docs = append(docs, bson.D{{Key: "_id", Value: key}})
	}
	return docs
}

// TestFindResumesLostCursor: if the server drops the cursor, Find continues with another one,
// up to the limit of the query.
func TestFindResumesLostCursor(t *testing.T) {
	m := newScripted(t)
	m.on("find", cursor("firstBatch", 77, nil, documents(1, 2)...), cursor("firstBatch", 0, nil, documents(3)...))
	m.on("getMore", fails(43))
	s := m.open("")
	var got []int32
	for doc, err := range s.Find(t.Context(), "c", store.Query{Limit: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, doc.Lookup("_id").Int32())
	}
	if len(got) != 3 || got[2] != 3 {
		t.Errorf("found %v, want 1, 2, 3", got)
	}
	second := m.got("find")[1]
	if limit := second.Lookup("limit").AsInt64(); limit != 1 {
		t.Errorf("asked for %d more, want 1", limit)
	}
	if filter := second.Lookup("filter", "$or", "0", "_id", "$gt"); filter.AsInt64() != 2 {
		t.Errorf("read on with %v, want what is after 2", second.Lookup("filter"))
	}
}

// TestReadable lists a view, from which a program can only read.
func TestReadable(t *testing.T) {
	m := newScripted(t)
	m.on("listCollections", cursor("firstBatch", 0, nil,
		bson.D{{Key: "name", Value: "view"}, {Key: "type", Value: "view"}}, bson.D{{Key: "name", Value: "orders"}, {Key: "type", Value: "collection"}}))
	s := m.open("")
	if names, err := s.Readable(t.Context()); err != nil || !slices.Equal(names, []string{"orders", "view"}) {
		t.Errorf("Readable: %q, %v", names, err)
	}
	if names, err := s.Collections(t.Context()); err != nil || !slices.Equal(names, []string{"orders"}) {
		t.Errorf("Collections: %q, %v", names, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Readable(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Readable after Close: %v", err)
	}
}
