package pgstore_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
)

// TestRoomForSwaps: SwapMany sets the fillfactor of a table once, unless the table already has
// one.
func TestRoomForSwaps(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	s := open(t, uri)
	settings := func(collection string) (got string) {
		conn, table := tableOf(t, uri, collection)
		if err := conn.QueryRow(t.Context(), "SELECT coalesce(array_to_string(reloptions, ' '), '') FROM pg_class WHERE oid = $1::text::regclass", table).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, test := range []struct {
		collection, before string
		swaps              int
		want               string
	}{
		{"one", "", 1, ""},
		{"many", "", 2, "fillfactor=50"},
		{"set", "fillfactor=70", 2, "fillfactor=70"},
		{"other", "autovacuum_enabled=true", 2, "autovacuum_enabled=true fillfactor=50"},
	} {
		if _, err := s.InsertMany(t.Context(), test.collection, []any{bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "_id", Value: 2}}}, nil); err != nil {
			t.Fatal(err)
		}
		if test.before != "" {
			conn, table := tableOf(t, uri, test.collection)
			if _, err := conn.Exec(t.Context(), "ALTER TABLE "+table+" SET ("+test.before+")"); err != nil {
				t.Fatal(err)
			}
		}
		var swaps []store.Swap
		for doc, err := range s.Find(t.Context(), test.collection, store.Query{Limit: test.swaps}) {
			if err != nil {
				t.Fatal(err)
			}
			swaps = append(swaps, store.Swap{Old: doc, New: doc})
		}
		if _, err := s.SwapMany(t.Context(), test.collection, swaps); err != nil {
			t.Fatal(err)
		}
		if got := settings(test.collection); got != test.want {
			t.Errorf("%s: settings %q, want %q", test.collection, got, test.want)
		}
	}
}
