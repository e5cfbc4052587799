package storelock_test

import (
	"testing"

	"github.com/oidkit/oid/internal/lockfaults"
)

// TestPostgresFaults does to PostgreSQL and to a holder what docs/lock-faults.md lists.
func TestPostgresFaults(t *testing.T) {
	for _, f := range lockfaults.PostgresFaults() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r := f.Run(t, lockfaults.OwnOnPostgres())
			t.Logf("%+v", r)
			f.Check(t, r)
		})
	}
}

// TestPostgresEpisodes lets faults of PostgreSQL begin, last and pass, as docs/lock-faults.md
// lists them.
func TestPostgresEpisodes(t *testing.T) {
	for _, e := range lockfaults.PostgresEpisodes() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			o := e.Run(t, lockfaults.OwnOnPostgres())
			t.Logf("%+v", o)
			e.Check(t, o)
		})
	}
}
