package pgstore_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
)

// tableOf returns a connection to the server and the qualified name of a table.
func tableOf(t *testing.T, uri, name string) (*pgx.Conn, string) {
	t.Helper()
	server, schema, _ := strings.Cut(uri, "oid_schema=")
	conn, err := pgx.Connect(t.Context(), strings.TrimRight(server, "&?"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn, pgx.Identifier{schema, name}.Sanitize()
}

// A query for a range of keys must scan the index of the primary key.
func TestPlans(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	s := open(t, uri)
	docs := make([]any, 20_000)
	for i := range docs {
		docs[i] = bson.D{}
	}
	keys, err := s.InsertMany(t.Context(), "c", docs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	conn, table := tableOf(t, uri, "c")
	if _, err := conn.Exec(t.Context(), "ANALYZE "+table); err != nil {
		t.Fatal(err)
	}
	for _, q := range []store.Query{
		{Range: store.Range{From: keys[10_000], To: keys[10_100]}},
		{Range: store.Range{From: keys[10_000], To: keys[10_100]}, Descending: true},
		{Range: store.IDRange(objectid.Range{}), Limit: 10},
	} {
		plan, err := s.Plan(t.Context(), "c", q)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan, "Index Scan") || !strings.Contains(plan, "^3") || strings.Contains(plan, "Sort") {
			t.Errorf("Find %+v:\n%s, want a scan of the primary key", q, plan)
		}
	}
}

// Collections are different even if PostgreSQL would truncate their names to the same text.
func TestLongNames(t *testing.T) {
	s := open(t, testenv.PostgresSchema(t, testenv.PostgresURL(t)))
	long := strings.Repeat("ä", 90)
	names := []string{"_events", "events", "events_pkey", long + "a", long + "b", "it's " + long, strings.Repeat("x", 63), strings.Repeat("x", 64), strings.Repeat("x", store.MaxName), "^", "^0", "^1format", "^^2"}
	for i, name := range names {
		if _, err := s.Insert(t.Context(), name, bson.D{{Key: "_id", Value: int32(i)}}); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
	}
	for i, name := range names {
		if _, err := s.Get(t.Context(), name, store.IntKey(int64(i))); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got, err := s.Collections(t.Context()); len(got) != len(names) || err != nil {
		t.Errorf("Collections = %q, %v, want %q", got, err, names)
	}
}

func TestSchemaOfOthers(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	s := open(t, uri)
	if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	conn, format := tableOf(t, uri, "^1format")
	for _, test := range []struct{ statement, want string }{
		{"UPDATE " + format + " SET version = 3", "format 3"},
		{"DROP TABLE " + format, "another program"},
	} {
		if _, err := conn.Exec(t.Context(), test.statement); err != nil {
			t.Fatal(err)
		}
		if _, err := pgstore.Open(t.Context(), uri); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Open after %s: %v, want %q", test.statement, err, test.want)
		}
		if _, err := s.Insert(t.Context(), "new", bson.D{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("a new collection after %s: %v, want %q", test.statement, err, test.want)
		}
	}
}

// If many stores insert at the same time, the schema and the table are created once.
func TestCreatedAtOnce(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	var group sync.WaitGroup
	for range 8 {
		s := open(t, uri)
		group.Go(func() {
			if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// Bulk writes of the same keys, in any order, do not deadlock.
func TestBulkWritersOfTheSameKeys(t *testing.T) {
	s := open(t, testenv.PostgresSchema(t, testenv.PostgresURL(t)))
	const n = 300
	docs := make([]any, n)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: int32(i)}}
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := s.InsertMany(t.Context(), "c", docs, nil); err != nil && !errors.Is(err, store.ErrDuplicate) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for w := range 4 {
		group.Go(func() {
			for range 20 {
				var swaps []store.Swap
				for doc, err := range s.Find(t.Context(), "c", store.Query{Descending: w%2 == 0}) {
					if err != nil {
						t.Error(err)
						return
					}
					swaps = append(swaps, store.Swap{Old: doc, New: doc})
				}
				if _, err := s.SwapMany(t.Context(), "c", swaps); err != nil && !errors.Is(err, store.ErrConflict) {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got, err := s.Count(t.Context(), "c", store.Range{}); got != n || err != nil {
		t.Errorf("%d documents, %v, want %d", got, err, n)
	}
}
