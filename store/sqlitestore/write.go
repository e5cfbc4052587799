package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

var errReadOnly = errors.New("the store was opened for reading only")

// update runs work in a transaction on the writing connection. It waits for other
// processes that write until ctx is done.
func (s *database) update(ctx context.Context, work func(tx *sql.Tx) error) error {
	if s.write == nil {
		return errReadOnly
	}
	if err := s.checkMoved(ctx); err != nil {
		return err
	}
	for {
		err := s.tryUpdate(ctx, work)
		if code(err) != sqlite3.SQLITE_BUSY {
			return s.explain(ctx, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
	}
}

func (s *database) tryUpdate(ctx context.Context, work func(tx *sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		_ = tx.Rollback() // an error does not matter: SQLite may have rolled back already
		return err
	}
	return tx.Commit()
}

// Replace implements [engine.Database].
func (s *database) Replace(ctx context.Context, collection string, key store.Key, doc bson.Raw) (bool, error) {
	n, err := zeroIfMissing(s.exec(ctx, "UPDATE "+table(collection)+" SET doc = ?2 WHERE _id = ?1", argument(key), []byte(doc)))
	return n > 0, err
}

// Delete implements [engine.Database].
func (s *database) Delete(ctx context.Context, collection string, key store.Key) (bool, error) {
	n, err := zeroIfMissing(s.remove(ctx, "DELETE FROM "+table(collection)+" WHERE _id = ?1", argument(key)))
	s.deleted(n)
	return n > 0, err
}

// exec runs a statement in a transaction of its own and returns the number of changed rows.
func (s *database) exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = s.update(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}

// zeroIfMissing returns the result of exec. If the table does not exist, it returns 0 and no
// error.
func zeroIfMissing(n int64, err error) (int64, error) {
	if isMissing(err) {
		return 0, nil
	}
	return n, err
}

// remove is exec for statements that delete. If the disk is full, it makes SQLite move the
// log's content into the file, which may free space in the log, and tries again.
func (s *database) remove(ctx context.Context, query string, args ...any) (int64, error) {
	n, err := s.exec(ctx, query, args...)
	if code(err) != sqlite3.SQLITE_FULL {
		return n, err
	}
	var busy, inLog, copied int
	if e := s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &inLog, &copied); e != nil {
		return n, err
	}
	return s.exec(ctx, query, args...)
}

// deletePage is the number of documents that DeleteRange deletes in one transaction. Between
// two transactions, other processes can write.
const deletePage = 5000

// DeleteRange implements [engine.Database].
func (s *database) DeleteRange(ctx context.Context, collection string, r store.Range) (total int64, err error) {
	where, args := condition(r, false)
	t := table(collection)
	query := fmt.Sprintf("DELETE FROM %s WHERE _id IN (SELECT _id FROM %s WHERE %s ORDER BY _id LIMIT %d)", t, t, where, deletePage)
	for n := int64(deletePage); err == nil && n == deletePage; total += n {
		n, err = zeroIfMissing(s.remove(ctx, query, args...))
	}
	s.deleted(total)
	return total, err
}

// Change implements [engine.Database].
func (s *database) Change(ctx context.Context, collection string, changes []engine.Change) (refused []store.RefusedItem, err error) {
	var deleted int64
	err = s.update(ctx, func(tx *sql.Tx) (err error) {
		refused, deleted, err = swap(ctx, tx, table(collection), changes)
		return err
	})
	if isMissing(err) {
		refused, err = nil, nil
		for _, c := range changes {
			refused = append(refused, c.Unchanged(false))
		}
	}
	if err == nil {
		s.deleted(deleted)
	}
	return refused, err
}

// swap makes the changes whose document is still the old one, and refuses the others. deleted
// is the number of deleted documents.
func swap(ctx context.Context, tx *sql.Tx, table string, changes []engine.Change) (refused []store.RefusedItem, deleted int64, err error) {
	statements := prepared{ctx, tx, map[string]*sql.Stmt{}}
	for _, c := range changes {
		query := "UPDATE " + table + " SET doc = ?3 WHERE _id = ?1 AND doc = ?2"
		args := []any{argument(c.Key), []byte(c.Old), []byte(c.New)}
		if c.New == nil {
			query, args = "DELETE FROM "+table+" WHERE _id = ?1 AND doc = ?2", args[:2]
		}
		n, err := statements.exec(query, args...)
		if err != nil {
			return nil, 0, err
		}
		if n == 1 {
			if c.New == nil {
				deleted++
			}
			continue
		}
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+table+" WHERE _id = ?", args[0]).Scan(&n); err != nil {
			return nil, 0, err
		}
		refused = append(refused, c.Unchanged(n > 0))
	}
	return refused, deleted, nil
}

// prepared holds the prepared statements of a transaction. They are closed when the transaction
// ends.
type prepared struct {
	ctx  context.Context
	tx   *sql.Tx
	kept map[string]*sql.Stmt // by their text
}

// exec runs a statement, which it prepares once, and returns the number of changed rows.
func (p prepared) exec(query string, args ...any) (n int64, err error) {
	statement := p.kept[query]
	if statement == nil {
		if statement, err = p.tx.PrepareContext(p.ctx, query); err != nil {
			return 0, err
		}
		p.kept[query] = statement
	}
	result, err := statement.ExecContext(p.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
