package filelock_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"

	_ "modernc.org/sqlite"
)

func Example() {
	dir, err := os.MkdirTemp("", "locks")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	locker, err := filelock.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()

	err = lock.Do(context.Background(), locker, "nightly-report", func(ctx context.Context, lease *lock.Lease) error {
		status, err := locker.Status(ctx, "nightly-report")
		fmt.Println("held by this lease:", status.Owner == lease.Owner())
		return err
	}, nil)
	fmt.Println(err)
	// Output:
	// held by this lease: true
	// <nil>
}

// A table that compares fences rejects the write of a stale holder, which does not know yet
// that it has lost the lock.
func Example_guard() {
	dir, err := os.MkdirTemp("", "locks")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	locker, err := filelock.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "accounts.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE accounts (name TEXT PRIMARY KEY, balance INTEGER, fence BIGINT NOT NULL DEFAULT 0);
		INSERT INTO accounts (name, balance) VALUES ('alice', 100)`); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	setBalance := func(fence uint64, balance int) error {
		result, err := db.ExecContext(ctx, "UPDATE accounts SET balance = ?, fence = ? WHERE name = 'alice' AND fence <= ?",
			balance, fence, fence)
		if err != nil {
			return err
		}
		if rows, err := result.RowsAffected(); err != nil || rows > 0 {
			return err
		}
		return lock.ErrStale
	}

	stale, err := locker.Acquire(ctx, "alice", nil)
	if err != nil {
		log.Fatal(err)
	}
	_ = stale.Release() // as if it were lost, with a write still on its way
	current, err := locker.Acquire(ctx, "alice", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer current.Release()
	fmt.Println(setBalance(current.Fence(), 90))
	fmt.Println(errors.Is(setBalance(stale.Fence(), 80), lock.ErrStale))
	// Output:
	// <nil>
	// true
}
