package pgstore_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
)

// TestFindLargeDocuments: a page contains only a few documents if they are large, whatever its
// limit, and Find still returns all documents.
func TestFindLargeDocuments(t *testing.T) {
	s := open(t, testenv.PostgresSchema(t, testenv.PostgresURL(t)))
	const n = 19
	docs := make([]any, n)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: int32(i)}, {Key: "b", Value: make([]byte, 1<<20)}}
	}
	if _, err := s.InsertMany(t.Context(), "c", docs, nil); err != nil {
		t.Fatal(err)
	}
	if got, more, err := s.FirstPage(t.Context(), "c"); got != 8 || !more || err != nil {
		t.Errorf("the first page has %d documents of 1 MiB, more: %v, %v; want 8", got, more, err)
	}
	for _, q := range []store.Query{{}, {Limit: 17}, {Limit: 8}, {Descending: true}} {
		want, found := n, 0
		if q.Limit > 0 {
			want = q.Limit
		}
		for doc, err := range s.Find(t.Context(), "c", q) {
			if err != nil {
				t.Fatal(err)
			}
			place := found
			if q.Descending {
				place = n - 1 - found
			}
			if key, err := store.KeyOf(doc); key != store.IntKey(int64(place)) || err != nil {
				t.Fatalf("%+v: document %d is %v, %v", q, found, key, err)
			}
			found++
		}
		if found != want {
			t.Errorf("%+v: %d documents, want %d", q, found, want)
		}
	}
}
