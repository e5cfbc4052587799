package lock

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// SQLGuard keeps late writers out of the rows of a SQL table that has a column
// for the highest fence seen, an integer of 64 bits that is not NULL:
//
//	ALTER TABLE accounts ADD COLUMN fence BIGINT NOT NULL DEFAULT 0
//
// Names of tables and columns are put into the statement in double quotes, as
// standard SQL has it.
type SQLGuard struct {
	// Table is the table's name, and Key the column that selects a row.
	Table, Key string
	// Fence is the column with the highest fence. Default: "fence".
	Fence string
	// Dollar says to write placeholders as $1 and not as ?, for PostgreSQL.
	Dollar bool
}

// Admit stores fence in the row that key selects, if the row has seen none that
// is higher, and otherwise returns a [StaleError], with which the transaction is
// to be rolled back. Call it first in every transaction that writes what the
// lock protects: the row then stays locked until the transaction ends, so that
// no later holder can come between. If no row has that key the error wraps
// [sql.ErrNoRows].
func (g SQLGuard) Admit(ctx context.Context, tx *sql.Tx, key any, fence uint64) error {
	table, keyColumn, fenceColumn := quoteIdentifier(g.Table), quoteIdentifier(g.Key), quoteIdentifier(g.Fence)
	if g.Fence == "" {
		fenceColumn = quoteIdentifier("fence")
	}
	update := "UPDATE " + table + " SET " + fenceColumn + " = " + g.placeholder(1) +
		" WHERE " + keyColumn + " = " + g.placeholder(2) + " AND " + fenceColumn + " <= " + g.placeholder(3)
	result, err := tx.ExecContext(ctx, update, fence, key, fence)
	if err != nil {
		return fmt.Errorf("lock: compare fence in %s: %w", g.Table, err)
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("lock: compare fence in %s: %w", g.Table, err)
	}
	if rows > 0 {
		return nil
	}
	stale := &StaleError{Fence: fence}
	query := "SELECT " + fenceColumn + " FROM " + table + " WHERE " + keyColumn + " = " + g.placeholder(1)
	if err := tx.QueryRowContext(ctx, query, key).Scan(&stale.Seen); err != nil {
		return fmt.Errorf("lock: read fence in %s: %w", g.Table, err)
	}
	return stale
}

func (g SQLGuard) placeholder(n int) string {
	if g.Dollar {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

func quoteIdentifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
