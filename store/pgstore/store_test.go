package pgstore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/storetest"
	"github.com/oidkit/oid/store/pgstore"
)

func TestStore(t *testing.T) {
	t.Parallel()
	s := testenv.PostgresURL(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, testenv.PostgresSchema(t, s)) }, nil)
}

func TestStoreBehindPgBouncer(t *testing.T) {
	t.Parallel()
	s := testenv.SharedPgBouncer(t)
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, testenv.PostgresSchema(t, s))
	}, nil)
}

// open opens a store that closes when the test ends.
func open(t *testing.T, uri string) *pgstore.Store {
	t.Helper()
	s, err := pgstore.Open(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// Open refuses a schema with a newer format, which this version could misread.
func TestNewerFormatIsRefused(t *testing.T) {
	server := testenv.PostgresURL(t)
	uri := testenv.PostgresSchema(t, server)
	if _, err := open(t, uri).Insert(t.Context(), "c", bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	_, schema, _ := strings.Cut(uri, "oid_schema=")
	for _, step := range []int{1, -2} { // a newer format, then an older one
		var other int
		if err := c.QueryRow(t.Context(), `UPDATE `+schema+`."^1format" SET version = version + $1 RETURNING version`, step).Scan(&other); err != nil {
			t.Fatal(err)
		}
		s, err := pgstore.Open(t.Context(), uri)
		if err == nil {
			s.Close()
		}
		if want := fmt.Sprintf("has format %d, but this program reads format 2; use the version of the program that wrote it", other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a schema of format %d: Open returned %v, want an error with %q", other, err, want)
		}
	}
}
