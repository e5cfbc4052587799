package pgstore_test

import (
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
)

// TestSwapsOfOneTransaction: swaps that need several statements are committed together, and
// refused swaps are reported with their index in the call.
func TestSwapsOfOneTransaction(t *testing.T) {
	const n = 1800
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	s := open(t, uri)
	docs := make([]any, n)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: int32(i)}}
	}
	if _, err := s.InsertMany(t.Context(), "c", docs, nil); err != nil {
		t.Fatal(err)
	}
	swaps := make([]store.Swap, 0, n)
	for doc, err := range s.Find(t.Context(), "c", store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		swaps = append(swaps, store.Swap{Old: doc, New: doc})
	}
	others := []int{0, 499, 500, 999, 1001, n - 1}
	for _, i := range others {
		if err := s.Replace(t.Context(), "c", bson.D{{Key: "_id", Value: int32(i)}, {Key: "other", Value: true}}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.SwapMany(t.Context(), "c", swaps)
	var refused *store.BulkError
	if !errors.As(err, &refused) {
		t.Fatalf("SwapMany: %v, want some refused", err)
	}
	var places []int
	for _, r := range refused.Refused {
		places = append(places, r.Index)
		if !errors.Is(r.Err, store.ErrConflict) {
			t.Errorf("swap %d: %v, want ErrConflict", r.Index, r.Err)
		}
	}
	if slices.Sort(places); !slices.Equal(places, others) {
		t.Errorf("refused %v, want %v", places, others)
	}
	var transactions int
	conn, table := tableOf(t, uri, "c")
	if err := conn.QueryRow(t.Context(), "SELECT count(DISTINCT xmin::text) FROM "+table).Scan(&transactions); err != nil {
		t.Fatal(err)
	}
	if want := 1 + len(others); transactions != want {
		t.Errorf("%d transactions wrote the documents, want %d", transactions, want)
	}
}
