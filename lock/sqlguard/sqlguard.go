// Package sqlguard keeps writers whose lease has ended out of a SQL table, by
// comparing the fences of package lock.
package sqlguard

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/oidkit/oid/lock"
)

// Guard compares fences in the rows of a SQL table that has a column for the
// highest fence seen, an integer of 64 bits that is not NULL:
//
//	ALTER TABLE accounts ADD COLUMN fence BIGINT NOT NULL DEFAULT 0
//
// Names of tables and columns are quoted with double quotes, as in standard SQL.
type Guard struct {
	// Table is the table's name, and Key the column that selects a row.
	Table, Key string
	// Fence is the column with the highest fence. Default: "fence".
	Fence string
	// Dollar selects placeholders like $1 instead of ?, for PostgreSQL.
	Dollar bool
}

// Admit stores fence in the row that key selects, if the row has seen none that
// is higher, and otherwise returns a [lock.StaleError]: roll the transaction back. Call it first in every transaction that writes what the
// lock protects: the row then stays locked until the transaction ends, so that
// no later holder can write in between. If no row has that key the error wraps
// [sql.ErrNoRows].
func (g Guard) Admit(ctx context.Context, tx *sql.Tx, key any, fence uint64) error {
	table, keyColumn, fenceColumn := quoteIdentifier(g.Table), quoteIdentifier(g.Key), quoteIdentifier(g.Fence)
	if g.Fence == "" {
		fenceColumn = quoteIdentifier("fence")
	}
	update := "UPDATE " + table + " SET " + fenceColumn + " = " + g.placeholder(1) +
		" WHERE " + keyColumn + " = " + g.placeholder(2) + " AND " + fenceColumn + " <= " + g.placeholder(3)
	result, err := tx.ExecContext(ctx, update, fence, key, fence)
	if err != nil {
		return fmt.Errorf("sqlguard: compare fence in %s: %w", g.Table, err)
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("sqlguard: compare fence in %s: %w", g.Table, err)
	}
	if rows > 0 {
		return nil
	}
	stale := &lock.StaleError{Fence: fence}
	query := "SELECT " + fenceColumn + " FROM " + table + " WHERE " + keyColumn + " = " + g.placeholder(1)
	if err := tx.QueryRowContext(ctx, query, key).Scan(&stale.Seen); err != nil {
		return fmt.Errorf("sqlguard: read fence in %s: %w", g.Table, err)
	}
	return stale
}

func (g Guard) placeholder(n int) string {
	if g.Dollar {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

func quoteIdentifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
