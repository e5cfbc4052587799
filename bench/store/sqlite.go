package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite"

	"github.com/oidkit/oid/objectid"
)

// measureSQLite measures people's own tables in SQLite files.
func measureSQLite(ctx context.Context, folder string, data []row, rounds int) (string, error) {
	var costs [2][]cost // without and with an index
	var dbs [2]*sql.DB
	for i := range 3 {
		for j, index := range []string{"", "CREATE INDEX orders_at ON orders (at)"} {
			path := filepath.Join(folder, fmt.Sprintf("own%d%d.db", i, j))
			db, c, err := fillSQLite(ctx, path, index, data)
			if err != nil {
				return "", err
			}
			defer db.Close()
			costs[j], dbs[j] = append(costs[j], c), db
		}
	}
	byTime := func(db *sql.DB) func(context.Context, time.Time, time.Time) (int, error) {
		return func(ctx context.Context, from, to time.Time) (int, error) {
			return scanSQL(db.QueryContext(ctx, "SELECT id, text FROM orders WHERE at >= ? AND at < ? ORDER BY at", from.UnixMilli(), to.UnixMilli()))
		}
	}
	table, err := compare(ctx, data, rounds, []way{
		{"by _id", func(ctx context.Context, from, to time.Time) (int, error) {
			where, args := objectid.Between(from, to).SQL("id", 0)
			return scanSQL(dbs[0].QueryContext(ctx, "SELECT id, text FROM orders WHERE "+where+" ORDER BY id", args...))
		}},
		{"by a time field with an index", byTime(dbs[1])},
		{"by a time field without an index", byTime(dbs[0])},
	})
	if err != nil {
		return "", err
	}
	return "| own table in a SQLite file | time | ratio |\n|---|---:|---:|\n" + table + "\n" + indexCost(len(data), costs[0], costs[1]), nil
}

// fillSQLite makes a file with a table of data, and an index on it before it is
// filled.
func fillSQLite(ctx context.Context, path, index string, data []row) (*sql.DB, cost, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return nil, cost{}, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE orders (id BLOB PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID; "+index); err != nil {
		return nil, cost{}, err
	}
	began := time.Now()
	for len(data) > 0 {
		n := min(len(data), 10_000)
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, cost{}, err
		}
		insert, err := tx.PrepareContext(ctx, "INSERT INTO orders VALUES (?, ?, ?)")
		if err != nil {
			return nil, cost{}, err
		}
		for _, r := range data[:n] {
			if _, err := insert.ExecContext(ctx, r.id, r.at.UnixMilli(), r.text); err != nil {
				return nil, cost{}, err
			}
		}
		if err := tx.Commit(); err != nil {
			return nil, cost{}, err
		}
		data = data[n:]
	}
	took := time.Since(began)
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return nil, cost{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, cost{}, err
	}
	return db, cost{took, info.Size()}, nil
}

// scanSQL counts the rows of a query.
func scanSQL(rows *sql.Rows, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	return countRows(rows)
}
