package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/objectid"
)

// measurePostgres measures people's own tables in PostgreSQL.
func measurePostgres(ctx context.Context, folder string, data []row, rounds int) (string, error) {
	conn, pid, stop, err := page.StartPostgres(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return "PostgreSQL is not installed here (apt-get install postgresql), so it was not measured.\n", nil
	}
	if err != nil {
		return "", fmt.Errorf("start PostgreSQL: %w", err)
	}
	defer stop()
	var costs [2][]cost // without and with an index
	for range 3 {
		for j, table := range []string{"plain", "indexed"} {
			c, err := fillPostgres(ctx, conn, table, j == 1, data)
			if err != nil {
				return "", err
			}
			costs[j] = append(costs[j], c)
		}
	}
	var version string
	if err := conn.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", err
	}
	s, speed, err := measurePgstore(ctx, conn, pid, data, rounds)
	if err != nil {
		return "", err
	}
	defer s.Close()
	byTime := func(table string) func(context.Context, time.Time, time.Time) (int, error) {
		return func(ctx context.Context, from, to time.Time) (int, error) {
			return scanPostgres(conn.Query(ctx, "SELECT id, text FROM "+table+" WHERE at >= $1 AND at < $2 ORDER BY at", from, to))
		}
	}
	table, err := compare(ctx, data, rounds, []way{
		{"own table, by _id", func(ctx context.Context, from, to time.Time) (int, error) {
			where, args := objectid.Between(from, to).SQL("id", 1)
			return scanPostgres(conn.Query(ctx, "SELECT id, text FROM plain WHERE "+where+" ORDER BY id", args...))
		}},
		{"own table, by a time field with an index", byTime("indexed")},
		{"own table, by a time field without an index", byTime("plain")},
		{"pgstore, Find over the range of _id", findBetween(s, "events")},
	})
	return fmt.Sprintf("| PostgreSQL %s, BYTEA key, pgx | time | ratio |\n|---|---:|---:|\n%s\n%s\n%s", version, table, indexCost(len(data), costs[0], costs[1]), speed), err
}

// fillPostgres makes a table of data anew, with an index on its time from the
// beginning if indexed is set.
func fillPostgres(ctx context.Context, conn *pgx.Conn, table string, indexed bool, data []row) (cost, error) {
	text := "DROP TABLE IF EXISTS " + table + "; CREATE TABLE " + table + " (id BYTEA PRIMARY KEY, at TIMESTAMPTZ NOT NULL, text TEXT NOT NULL)"
	if indexed {
		text += "; CREATE INDEX ON " + table + " (at)"
	}
	if _, err := conn.Exec(ctx, text); err != nil {
		return cost{}, err
	}
	began := time.Now()
	_, err := conn.CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "at", "text"}, pgx.CopyFromSlice(len(data), func(i int) ([]any, error) {
		return []any{data[i].id[:], data[i].at, data[i].text}, nil
	}))
	if err != nil {
		return cost{}, err
	}
	took := time.Since(began)
	if _, err := conn.Exec(ctx, "VACUUM ANALYZE "+table); err != nil {
		return cost{}, err
	}
	var size int64
	err = conn.QueryRow(ctx, "SELECT pg_total_relation_size($1::text::regclass)", table).Scan(&size)
	return cost{took, size}, err
}

// scanPostgres counts the rows of a query.
func scanPostgres(rows pgx.Rows, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	return countRows(rows)
}
