package pgstore_test

import (
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/storetest"
)

func TestStore(t *testing.T) {
	s := testenv.PostgresURL(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, testenv.PostgresSchema(t, s), nil) }, nil)
}

func TestStoreBehindPgBouncer(t *testing.T) {
	s := testenv.PgBouncer(t, testenv.Postgres(t))
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, testenv.PostgresSchema(t, s), &pgstore.Options{Poll: 5 * time.Millisecond})
	}, nil)
}

// open opens a store that closes when the test ends.
func open(t *testing.T, uri string, o *pgstore.Options) *pgstore.Store {
	t.Helper()
	s, err := pgstore.Open(t.Context(), uri, o)
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
