package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Replace puts doc in the place of the one with the same _id, see [store.Store].
func (s *Store) Replace(ctx context.Context, collection string, doc any) error {
	if err := s.life.Check(ctx, collection); err != nil {
		return err
	}
	key, raw, err := engine.Replacement(doc)
	if err != nil {
		return err
	}
	id, err := encode(key)
	if err != nil {
		return err
	}
	n, _, err := s.exec(ctx, "UPDATE "+s.table(collection)+" SET doc = $2::bytea WHERE _id = $1::bytea", id, []byte(raw)) // a second time changes nothing
	if err == nil && n == 0 {
		err = engine.NotFound(key)
	}
	return err
}

// exec runs a statement that changes rows, and returns how many: none if the collection
// has no table. unclear is true if an earlier try may have changed others.
func (s *Store) exec(ctx context.Context, text string, args ...any) (n int64, unclear bool, err error) {
	err = s.do(ctx, func(c *pgx.Conn, again bool) error {
		tag, err := c.Exec(ctx, text, args...)
		n, unclear = tag.RowsAffected(), again
		if isMissing(err) {
			return nil
		}
		return err
	})
	return n, unclear, err
}

// gone returns the error notFound for what was to be deleted. If an earlier try of the
// call is unclear that may have deleted it, or another call.
func gone(notFound error, unclear bool) error {
	if unclear {
		return fmt.Errorf("%w: the connection was lost meanwhile, so this call may have deleted it", notFound)
	}
	return notFound
}

// Delete removes the document with the key, see [store.Store]. If the connection is
// lost in the middle and the document is not there afterwards, the error says so
// and wraps [store.ErrNotFound]: nobody else can say who deleted it.
func (s *Store) Delete(ctx context.Context, collection string, key store.Key) error {
	if err := s.life.Check(ctx, collection); err != nil {
		return err
	}
	n, unclear, err := s.exec(ctx, "DELETE FROM "+s.table(collection)+" WHERE _id = $1::bytea", bound(key))
	if err == nil && n == 0 {
		err = gone(engine.NotFound(key), unclear)
	}
	return err
}

// deletePage is how many documents DeleteRange removes in one transaction: few, so
// that it does not keep others waiting.
const deletePage = 5000

// DeleteRange removes the documents with a key in r, see [store.Store]. If the
// connection is lost in the middle, documents may be removed that are not counted.
func (s *Store) DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error) {
	if err := s.life.Check(ctx, collection); err != nil || r.IsEmpty() {
		return 0, err
	}
	where, args := condition(r, false, nil)
	t := s.table(collection)
	// Rows are locked in the order of their keys, as by all writers.
	query := fmt.Sprintf("WITH page AS (SELECT _id FROM %s WHERE %s ORDER BY _id LIMIT %d FOR UPDATE) DELETE FROM %[1]s t USING page WHERE t._id = page._id", t, where, deletePage)
	for total := int64(0); ; {
		n, _, err := s.exec(ctx, query, args...)
		if err != nil {
			return total, err
		}
		if total += n; n < deletePage {
			return total, nil
		}
	}
}

// Drop removes a collection, see [store.Store], and [Store.Delete] for a connection
// that is lost.
func (s *Store) Drop(ctx context.Context, collection string) error {
	if err := s.life.Check(ctx, collection); err != nil {
		return err
	}
	s.roomy.Delete(collection)
	again := false
	err := s.do(ctx, func(c *pgx.Conn, unclear bool) error {
		again = unclear
		_, err := c.Exec(ctx, "DROP TABLE "+s.table(collection))
		return err
	})
	if isMissing(err) {
		return gone(engine.NoCollection(collection), again)
	}
	return err
}
