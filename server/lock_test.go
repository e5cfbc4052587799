package server_test

import (
	"context"
	"database/sql"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// lockDatabase takes the write lock of a SQLite file until unlock is called.
func lockDatabase(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := c.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}
