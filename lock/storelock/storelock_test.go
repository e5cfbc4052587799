package storelock_test

import (
	"path/filepath"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/locktest"
	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

// engines start what a store of each kind needs, once. The function that each returns
// makes an empty place in it and returns the function that opens that again and
// again, as processes would.
var engines = map[string]func(t *testing.T) func(t *testing.T) func() store.Store{
	"SQLite": func(*testing.T) func(t *testing.T) func() store.Store {
		return func(t *testing.T) func() store.Store {
			path := filepath.Join(t.TempDir(), "s.db")
			return opener(t, func() (store.Store, error) { return sqlitestore.Open(t.Context(), path, nil) })
		}
	},
	"PostgreSQL": func(t *testing.T) func(t *testing.T) func() store.Store {
		server := testenv.PostgresURL(t)
		return func(t *testing.T) func() store.Store {
			uri := testenv.PostgresSchema(t, server)
			return opener(t, func() (store.Store, error) { return pgstore.Open(t.Context(), uri) })
		}
	},
	"MongoDB": func(*testing.T) func(t *testing.T) func() store.Store {
		return func(t *testing.T) func() store.Store {
			uri := testenv.MongoDB(t)
			return opener(t, func() (store.Store, error) { return mongostore.Open(t.Context(), uri) })
		}
	},
}

func opener(t *testing.T, open func() (store.Store, error)) func() store.Store {
	return func() store.Store {
		s, err := open()
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
}

// newLocker returns a Locker on a store.
func newLocker(t *testing.T, s store.Store, o *storelock.Options) *storelock.Locker {
	t.Helper()
	l, err := storelock.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLocker(t *testing.T) {
	t.Parallel()
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := engine(t)
			locktest.Run(t, func(t *testing.T) func(func(lock.Event)) lock.Locker {
				open := place(t)
				return func(events func(lock.Event)) lock.Locker {
					return newLocker(t, open(), &storelock.Options{Events: events})
				}
			})
		})
	}
}
