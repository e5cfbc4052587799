package sqlguard_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/sqlguard"
)

// openDB returns a database with two accounts.
func openDB(t *testing.T, fence string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "db")+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, statement := range []string{
		`CREATE TABLE "all ""accounts" (name TEXT PRIMARY KEY, balance INTEGER NOT NULL, "` + fence + `" BIGINT NOT NULL DEFAULT 0)`,
		`INSERT INTO "all ""accounts" (name, balance) VALUES ('a', 0), ('b', 0)`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// write sets a balance under a fence.
func write(db *sql.DB, g sqlguard.Guard, name string, fence uint64, balance int) error {
	ctx := context.Background()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := g.Admit(ctx, tx, name, fence); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE "all ""accounts" SET balance = $1 WHERE name = $2`, balance, name); err != nil {
		return err
	}
	return tx.Commit()
}

func TestGuard(t *testing.T) {
	for fence, g := range map[string]sqlguard.Guard{
		"fence": {Table: `all "accounts`, Key: "name"},
		"token": {Table: `all "accounts`, Key: "name", Fence: "token", Dollar: true},
	} {
		db := openDB(t, fence)
		const high = 1795166651598985
		if err := write(db, g, "a", high, 1); err != nil {
			t.Fatal(err)
		}
		if err := write(db, g, "a", high, 2); err != nil {
			t.Errorf("second write of the same holder: %v", err)
		}
		var stale *lock.StaleError
		err := write(db, g, "a", high-1, 3)
		if !errors.Is(err, lock.ErrStale) || !errors.As(err, &stale) || stale.Fence != high-1 || stale.Seen != high {
			t.Errorf("late write: %v, want a StaleError", err)
		}
		if err := write(db, g, "b", high-1, 4); err != nil {
			t.Errorf("write to another row: %v", err)
		}
		if err := write(db, g, "c", high, 5); !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("write to a row that is not there: %v, want ErrNoRows", err)
		}
		for name, want := range map[string]int{"a": 2, "b": 4} {
			var balance int
			if err := db.QueryRow(`SELECT balance FROM "all ""accounts" WHERE name = ?`, name).Scan(&balance); err != nil || balance != want {
				t.Errorf("balance of %s = %d, %v; want %d", name, balance, err, want)
			}
		}
		if err := write(db, sqlguard.Guard{Table: "missing", Key: "name"}, "a", high, 6); err == nil || errors.Is(err, lock.ErrStale) {
			t.Errorf("write to a table that is not there: %v", err)
		}
	}
}
