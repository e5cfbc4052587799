package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/oidkit/oid/internal/engine"
	"github.com/oidkit/oid/store"
)

var errReadOnly = errors.New("the store was opened for reading only")

// update runs work in a transaction of the only writing connection. It waits for
// other processes until ctx ends.
func (s *Store) update(ctx context.Context, work func(tx *sql.Tx) error) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	if s.write == nil {
		return errReadOnly
	}
	if err := s.checkPlace(); err != nil {
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
	found, err := s.exists(ctx, collection)
	if err != nil {
		return err
	}
	key, raw, err := engine.Replacement(doc)
	if err != nil {
		return err
	}
	if !found {
		return engine.NotFound(key)
	}
	return s.changeOne(ctx, key, "UPDATE "+table(collection)+" SET doc = ?2 WHERE _id = ?1", []byte(raw))
}

// Delete removes the document with the key, see [store.Store].
func (s *Store) Delete(ctx context.Context, collection string, key store.Key) error {
	found, err := s.exists(ctx, collection)
	if err != nil {
		return err
	}
	if !found || key.IsZero() {
		return engine.NotFound(key)
	}
	return s.changeOne(ctx, key, "DELETE FROM "+table(collection)+" WHERE _id = ?1")
}

func (s *Store) changeOne(ctx context.Context, key store.Key, query string, more ...any) error {
	args := append([]any{argument(key)}, more...)
	return s.update(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); n != 1 || err != nil {
			return errors.Join(engine.NotFound(key), err)
		}
		return nil
	})
}

// deletePage is how many documents DeleteRange removes in one transaction: few,
// so that others get their turn.
const deletePage = 5000

// DeleteRange removes the documents with a key in r, see [store.Store].
func (s *Store) DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error) {
	found, err := s.exists(ctx, collection)
	if err != nil || !found {
		return 0, err
	}
	where, args := condition(r, false)
	t := table(collection)
	query := fmt.Sprintf("DELETE FROM %s WHERE _id IN (SELECT _id FROM %s WHERE %s ORDER BY _id LIMIT %d)", t, t, where, deletePage)
	for total := int64(0); ; {
		var n int64
		err := s.update(ctx, func(tx *sql.Tx) error {
			result, err := tx.ExecContext(ctx, query, args...)
			if err != nil {
				return err
			}
			n, err = result.RowsAffected()
			return err
		})
		if err != nil {
			return total, err
		}
		if total += n; n < deletePage {
			return total, nil
		}
	}
}
