package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

var errReadOnly = errors.New("the store was opened for reading only")

// update runs work in a transaction of the only writing connection. It waits for
// other processes until ctx ends.
func (s *Store) update(ctx context.Context, work func(tx *sql.Tx) error) error {
	if s.write == nil {
		return errReadOnly
	}
	if err := s.checkPlace(ctx); err != nil {
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

func (s *Store) tryUpdate(ctx context.Context, work func(tx *sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		_ = tx.Rollback() // SQLite may have done so itself; err says why
		return err
	}
	return tx.Commit()
}

// Replace puts doc in the place of the one with the same _id, see [store.Store].
func (s *Store) Replace(ctx context.Context, collection string, doc any) error {
	if err := s.life.Check(ctx, collection); err != nil {
		return err
	}
	key, raw, err := engine.Replacement(doc)
	if err != nil {
		return err
	}
	return s.changeOne(ctx, s.exec, collection, key, "UPDATE "+table(collection)+" SET doc = ?2 WHERE _id = ?1", []byte(raw))
}

// Delete removes the document with the key, see [store.Store].
func (s *Store) Delete(ctx context.Context, collection string, key store.Key) error {
	err := s.changeOne(ctx, s.remove, collection, key, "DELETE FROM "+table(collection)+" WHERE _id = ?1")
	if err == nil {
		s.deleted(1)
	}
	return err
}

// changeOne runs a query that changes the document with the key.
func (s *Store) changeOne(ctx context.Context, run runner, collection string, key store.Key, query string, more ...any) error {
	args := append([]any{argument(key)}, more...)
	var n int64
	_, err := s.inCollection(ctx, collection, func() (err error) {
		n, err = run(ctx, query, args...)
		return err
	})
	if err == nil && n == 0 {
		err = engine.NotFound(key)
	}
	return err
}

// runner runs a query and returns how many rows it has changed.
type runner func(ctx context.Context, query string, args ...any) (int64, error)

// exec runs a query in a transaction of its own and returns how many rows it has
// changed.
func (s *Store) exec(ctx context.Context, query string, args ...any) (n int64, err error) {
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

// remove runs a query that deletes. On a full disk it makes SQLite put what it has
// logged into the file, which may leave room in the log, and tries again.
func (s *Store) remove(ctx context.Context, query string, args ...any) (int64, error) {
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

// deletePage is how many documents DeleteRange removes in one transaction: few,
// so that others get their turn.
const deletePage = 5000

// DeleteRange removes the documents with a key in r, see [store.Store].
func (s *Store) DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error) {
	where, args := condition(r, false)
	t := table(collection)
	query := fmt.Sprintf("DELETE FROM %s WHERE _id IN (SELECT _id FROM %s WHERE %s ORDER BY _id LIMIT %d)", t, t, where, deletePage)
	total := int64(0)
	_, err := s.inCollection(ctx, collection, func() error {
		for n := int64(deletePage); n == deletePage; total += n {
			var err error
			if n, err = s.remove(ctx, query, args...); err != nil {
				return err
			}
		}
		return nil
	})
	s.deleted(total)
	return total, err
}

// Drop removes a collection, see [store.Store].
func (s *Store) Drop(ctx context.Context, collection string) error {
	found, err := s.inCollection(ctx, collection, func() error {
		_, err := s.remove(ctx, "DROP TABLE "+table(collection))
		return err
	})
	switch {
	case err == nil && !found:
		return engine.NoCollection(collection)
	case err == nil:
		s.deleted(vacuumAfter)
	}
	return err
}
