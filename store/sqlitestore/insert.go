package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Insert stores documents, see [engine.Database].
func (s *database) Insert(ctx context.Context, collection string, b *engine.Batch) (refused []store.RefusedItem, err error) {
	rows := b.Rows()
	if len(rows) == 0 {
		return nil, nil
	}
	err = s.update(ctx, func(tx *sql.Tx) (err error) {
		refused, err = insert(ctx, tx, collection, rows, b.Ordered())
		return err
	})
	return refused, err
}

// chunk is how many documents one statement inserts.
const chunk = 100

// insert puts rows into the table of a collection, which it creates if there is none, and
// a note of that into the table of commits.
func insert(ctx context.Context, tx *sql.Tx, collection string, rows []engine.Row, ordered bool) (refused []store.RefusedItem, err error) {
	var seq int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) + 1 FROM "^1commits"`).Scan(&seq); err != nil {
		return nil, err
	}
	one, many := insertInto(collection, 1), ""
	if len(rows) >= chunk {
		many = insertInto(collection, chunk)
	}
	statements := prepared{ctx, tx, map[string]*sql.Stmt{}}
	if _, err := statements.get(one); isMissing(err) {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE "+table(collection)+" (_id ANY PRIMARY KEY, seq INTEGER NOT NULL, doc BLOB NOT NULL) STRICT, WITHOUT ROWID"); err != nil {
			return nil, err
		}
	}
	args := make([]any, 0, 1+2*chunk)
	put := func(query string, rows ...engine.Row) error {
		args = append(args[:0], seq)
		for _, r := range rows {
			args = append(args, argument(r.Key), []byte(r.Doc))
		}
		_, err := statements.exec(query, args...)
		return err
	}
	stored := make([]engine.Row, 0, len(rows))
	for some := range slices.Chunk(rows, chunk) {
		if len(some) == chunk {
			err := put(many, some...)
			if err == nil {
				stored = append(stored, some...)
				continue
			}
			if !isTaken(err) {
				return nil, err
			}
		}
		// Short of a chunk, or one of the chunk is there already.
		for _, r := range some {
			err := put(one, r)
			switch {
			case err == nil:
				stored = append(stored, r)
			case !isTaken(err):
				return nil, err
			default:
				refused = append(refused, r.Duplicate())
				if ordered {
					return refused, note(ctx, tx, seq, collection, stored)
				}
			}
		}
	}
	return refused, note(ctx, tx, seq, collection, stored)
}

// insertInto returns the statement that inserts n documents of one commit, whose
// number is the first argument.
func insertInto(collection string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (_id, seq, doc) VALUES ", table(collection))
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(?%d,?1,?%d)", 2+2*i, 3+2*i)
	}
	return b.String()
}

// keptNotes is how many commits have a note: what watchers that keep up need.
const keptNotes = 1000

// note records which keys a commit brought, for watchers.
func note(ctx context.Context, tx *sql.Tx, seq int64, collection string, stored []engine.Row) error {
	if len(stored) == 0 {
		return nil
	}
	low, high := stored[0].Key, stored[0].Key
	for _, r := range stored[1:] {
		if r.Key.Compare(low) < 0 {
			low = r.Key
		}
		if r.Key.Compare(high) > 0 {
			high = r.Key
		}
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO "^1commits" VALUES (?, ?, ?, ?)`, seq, collection, argument(low), argument(high)); err != nil {
		return err
	}
	if seq%keptNotes != 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM "^1commits" WHERE seq <= ?`, seq-keptNotes)
	return err
}
