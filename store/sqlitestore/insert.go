package sqlitestore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Insert implements [engine.Database].
func (s *database) Insert(ctx context.Context, collection string, b *engine.Batch) (refused []store.RefusedItem, err error) {
	rows := b.Rows()
	if len(rows) == 0 {
		return nil, nil
	}
	err = s.update(ctx, func(tx *sql.Tx) (err error) {
		refused, err = insert(ctx, tx, collection, rows, b.Ordered())
		if isMissing(err) {
			_, err = tx.ExecContext(ctx, "CREATE TABLE "+table(collection)+" (_id ANY PRIMARY KEY, doc BLOB NOT NULL) STRICT, WITHOUT ROWID")
			if err == nil {
				refused, err = insert(ctx, tx, collection, rows, b.Ordered())
			}
		}
		return err
	})
	return refused, err
}

// chunk is the number of documents that one statement inserts.
const chunk = 100

// insert inserts rows into the table of a collection, and refuses rows whose key is taken.
func insert(ctx context.Context, tx *sql.Tx, collection string, rows []engine.Row, ordered bool) (refused []store.RefusedItem, err error) {
	one, many := insertInto(collection, 1), ""
	if len(rows) >= chunk {
		many = insertInto(collection, chunk)
	}
	statements := prepared{ctx, tx, map[string]*sql.Stmt{}}
	args := make([]any, 0, 2*chunk)
	put := func(query string, rows ...engine.Row) error {
		args = args[:0]
		for _, r := range rows {
			args = append(args, argument(r.Key), []byte(r.Doc))
		}
		_, err := statements.exec(query, args...)
		return err
	}
	for some := range slices.Chunk(rows, chunk) {
		if len(some) == chunk {
			err := put(many, some...)
			if err == nil {
				continue
			}
			if !isTaken(err) {
				return nil, err
			}
		}
		// There are fewer rows than a chunk, or the key of one of them is taken.
		for _, r := range some {
			err := put(one, r)
			switch {
			case err == nil:
			case !isTaken(err):
				return nil, err
			default:
				refused = append(refused, r.Duplicate())
				if ordered {
					return refused, nil
				}
			}
		}
	}
	return refused, nil
}

// insertInto returns the statement that inserts n documents.
func insertInto(collection string, n int) string {
	return "INSERT INTO " + table(collection) + " (_id, doc) VALUES (?,?)" + strings.Repeat(",(?,?)", n-1)
}
