package sqlitestore

import (
	"context"
	"database/sql"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Swap replaces old by new, see [store.Store].
func (s *Store) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	return engine.Swap(ctx, s, collection, old, new)
}

// DeleteIf removes old, see [store.Store].
func (s *Store) DeleteIf(ctx context.Context, collection string, old bson.Raw) error {
	return engine.DeleteIf(ctx, s, collection, old)
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
