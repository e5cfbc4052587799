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

// Swap replaces old by new, see [store.Store].
func (s *Store) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	return engine.Swap(ctx, s, collection, old, new)
}

// SwapMany does many swaps, see [store.Store].
func (s *Store) SwapMany(ctx context.Context, collection string, swaps []store.Swap) ([]bson.Raw, error) {
	if err := s.life.Check(ctx, collection); err != nil {
		return nil, err
	}
	return engine.SwapMany(swaps, func(changes []engine.Change) (refused []store.Refusal, err error) {
		found, err := s.inCollection(ctx, collection, func() error {
			return s.update(ctx, func(tx *sql.Tx) (err error) {
				w := swapping{ctx: ctx, tx: tx, table: table(collection)}
				defer w.close()
				refused, err = w.swap(changes)
				return err
			})
		})
		if err == nil && !found {
			refused = missing(changes)
		}
		if err == nil {
			s.deleted(removals(changes))
		}
		return refused, err
	})
}

// missing refuses changes in a collection that does not exist.
func missing(changes []engine.Change) (refused []store.Refusal) {
	for _, c := range changes {
		refused = append(refused, store.Refusal{Index: c.Index, Err: engine.NotFound(c.Key)})
	}
	return refused
}

// removals returns how many of the changes delete.
func removals(changes []engine.Change) (n int64) {
	for _, c := range changes {
		if c.New == nil {
			n++
		}
	}
	return n
}

// swapping is one transaction of SwapMany.
type swapping struct {
	ctx   context.Context
	tx    *sql.Tx
	table string

	replace, remove, look *sql.Stmt // prepared when first needed
}

func (w *swapping) close() {
	for _, s := range []*sql.Stmt{w.replace, w.remove, w.look} {
		if s != nil {
			_ = s.Close()
		}
	}
}

func (w *swapping) swap(changes []engine.Change) (refused []store.Refusal, err error) {
	for _, c := range changes {
		done, err := w.change(c)
		if err != nil {
			return nil, err
		}
		if done {
			continue
		}
		reason, err := w.reason(c.Key)
		if err != nil {
			return nil, err
		}
		refused = append(refused, store.Refusal{Index: c.Index, Err: reason})
	}
	return refused, nil
}

// change does c if its document is still the old one.
func (w *swapping) change(c engine.Change) (done bool, err error) {
	statement, query := &w.replace, "UPDATE "+w.table+" SET doc = ?3 WHERE _id = ?1 AND doc = ?2"
	args := []any{argument(c.Key), []byte(c.Old), []byte(c.New)}
	if c.New == nil {
		statement, query, args = &w.remove, "DELETE FROM "+w.table+" WHERE _id = ?1 AND doc = ?2", args[:2]
	}
	if err := w.prepare(statement, query); err != nil {
		return false, err
	}
	result, err := (*statement).ExecContext(w.ctx, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// reason returns why the document with the key was not changed.
func (w *swapping) reason(key store.Key) (reason, err error) {
	if err := w.prepare(&w.look, "SELECT count(*) FROM "+w.table+" WHERE _id = ?"); err != nil {
		return nil, err
	}
	var n int
	if err := w.look.QueryRowContext(w.ctx, argument(key)).Scan(&n); err != nil {
		return nil, err
	}
	return engine.Unchanged(key, n > 0), nil
}

func (w *swapping) prepare(statement **sql.Stmt, query string) (err error) {
	if *statement == nil {
		*statement, err = w.tx.PrepareContext(w.ctx, query)
	}
	return err
}
