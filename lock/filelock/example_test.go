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
	"github.com/oidkit/oid/lock/sqlguard"

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
	})
	fmt.Println(err)
	// Output:
	// held by this lease: true
	// <nil>
}

// A holder of the past, which does not know yet that it is one, is refused by a
// table that compares fences.
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
	guard := sqlguard.Guard{Table: "accounts", Key: "name"}
	setBalance := func(fence uint64, balance int) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := guard.Admit(ctx, tx, "alice", fence); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = ? WHERE name = ?", balance, "alice"); err != nil {
			return err
		}
		return tx.Commit()
	}

	past, err := locker.Acquire(ctx, "alice")
	if err != nil {
		log.Fatal(err)
	}
	_ = past.Release() // as if it were lost, with a write still on its way
	present, err := locker.Acquire(ctx, "alice")
	if err != nil {
		log.Fatal(err)
	}
	defer present.Release()
	fmt.Println(setBalance(present.Fence(), 90))
	fmt.Println(errors.Is(setBalance(past.Fence(), 80), lock.ErrStale))
	// Output:
	// <nil>
	// true
}
