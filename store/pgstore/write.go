package pgstore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Replace implements [engine.Database].
func (s *database) Replace(ctx context.Context, collection string, key store.Key, doc bson.Raw) (bool, error) {
	id, err := encode(key)
	if err != nil {
		return false, err
	}
	n, _, err := s.exec(ctx, "UPDATE "+s.table(collection)+" SET doc = $2::bytea WHERE _id = $1::bytea", id, []byte(doc)) // harmless if repeated
	return n > 0, err
}

// exec runs a statement and returns the number n of rows that it has changed, 0 if the
// collection has no table. unclear is true if an earlier attempt, whose answer was lost, may
// have changed rows too.
func (s *database) exec(ctx context.Context, text string, args ...any) (n int64, unclear bool, err error) {
	err = s.do(ctx, func(c *pgx.Conn, again bool) error {
		tag, err := c.Exec(ctx, text, args...)
		n, unclear = tag.RowsAffected(), again
		return nilIfMissing(err)
	})
	return n, unclear, err
}

// maybeDeleted returns an error if an earlier attempt of a call is unclear: then either that
// attempt or another call has deleted the document, which does not exist now. It returns nil
// otherwise.
func maybeDeleted(what string, unclear bool) error {
	if unclear {
		return fmt.Errorf("%w: %s: the connection was lost during the call; this call may have deleted the document, or it did not exist", store.ErrNotFound, what)
	}
	return nil
}

// Delete implements [engine.Database].
func (s *database) Delete(ctx context.Context, collection string, key store.Key) (bool, error) {
	n, unclear, err := s.exec(ctx, "DELETE FROM "+s.table(collection)+" WHERE _id = $1::bytea", bound(key))
	if err == nil && n == 0 {
		err = maybeDeleted(key.String(), unclear)
	}
	return n > 0, err
}

// deletePage is the number of documents that DeleteRange deletes in one transaction. It is
// small so that others do not wait long for the locked rows.
const deletePage = 5000

// DeleteRange implements [engine.Database].
func (s *database) DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error) {
	where, args := condition(r, false)
	t := s.table(collection)
	// Lock the rows in the order of their keys, as all writers do, to avoid deadlocks.
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

const (
	// swapRows is the maximum number of swaps in one statement. For a small statement, the
	// server looks up each key in the index, in the order given. For a large one it may read
	// the whole table instead, in an order that leads to deadlocks with other writers.
	swapRows = 500

	// swapStatements is the number of statements in one transaction. They share one round
	// trip to the server and one commit, which waits for the disk.
	swapStatements = 4
)

// Change implements [engine.Database].
func (s *database) Change(ctx context.Context, collection string, changes []engine.Change) (refused []store.RefusedItem, err error) {
	if len(changes) > 1 {
		s.setFillfactor(ctx, collection)
	}
	for some := range slices.Chunk(changes, swapRows*swapStatements) {
		not, err := s.swap(ctx, collection, some)
		if err != nil {
			return nil, err
		}
		refused = append(refused, not...)
	}
	return refused, nil
}

// fillfactor is the fillfactor of a table whose documents are replaced in bulk, in percent.
const fillfactor = 50

// setFillfactor sets the fillfactor of the table of a collection, unless it has one. The
// server then leaves room on each page for the next versions of its documents: a version on
// the same page needs no new entries in the indexes. setFillfactor acts once for each
// collection, and ignores errors, for example if another transaction has locked the table.
func (s *database) setFillfactor(ctx context.Context, collection string) {
	if _, done := s.fillfactorSet.LoadOrStore(collection, true); done {
		return
	}
	_ = s.do(ctx, func(c *pgx.Conn, _ bool) error {
		var given bool
		err := c.QueryRow(ctx, "SELECT coalesce(array_to_string(reloptions, ' ') LIKE '%fillfactor=%', false) FROM pg_class WHERE oid = to_regclass($1::text)", s.table(collection)).Scan(&given)
		if err != nil || given {
			return err
		}
		text := fmt.Sprintf("BEGIN; SET LOCAL lock_timeout = '50ms'; ALTER TABLE %s SET (fillfactor = %d); COMMIT", s.table(collection), fillfactor)
		if _, err = c.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			_, _ = c.Exec(ctx, "ROLLBACK", pgx.QueryExecModeSimpleProtocol)
		}
		return err
	})
}

// swap makes changes: replacements in one transaction, and deletions in another.
func (s *database) swap(ctx context.Context, collection string, changes []engine.Change) ([]store.RefusedItem, error) {
	replace, remove := swapping{s: s, ctx: ctx, collection: collection}, swapping{s: s, ctx: ctx, collection: collection, remove: true}
	for _, c := range changes {
		w := &replace
		if c.New == nil {
			w = &remove
		}
		w.changes = append(w.changes, c)
		w.ids, w.olds, w.new = append(w.ids, bound(c.Key)), append(w.olds, c.Old), append(w.new, c.New)
	}
	for _, w := range []*swapping{&replace, &remove} {
		if len(w.changes) == 0 {
			continue
		}
		if err := s.do(ctx, w.do); err != nil {
			return nil, err
		}
	}
	return append(replace.refused, remove.refused...), nil
}

// blobs is an argument of type bytea[]. pgx encodes it faster than a [][]byte, which needs
// reflection.
type blobs = pgtype.FlatArray[[]byte]

// swapping is one transaction that replaces documents, or one that deletes documents, in the
// order of their keys.
type swapping struct {
	s          *database
	ctx        context.Context
	collection string
	remove     bool

	changes        []engine.Change
	ids, olds, new blobs
	refused        []store.RefusedItem
}

// do runs the transaction once, as the parameter work of database.do.
func (w *swapping) do(c *pgx.Conn, unclear bool) error {
	t := w.s.table(w.collection)
	text := "UPDATE " + t + ` t SET doc = change.new FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS change (id, old, new, place)
		WHERE t._id = change.id AND t.doc = change.old RETURNING place`
	if w.remove {
		text = "DELETE FROM " + t + ` t USING unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS change (id, old, place)
			WHERE t._id = change.id AND t.doc = change.old RETURNING place`
	}
	var batch pgx.Batch
	done, n := make([]bool, len(w.ids)), 0
	for start := 0; start < len(w.ids); start += swapRows {
		end := min(start+swapRows, len(w.ids))
		args := []any{w.ids[start:end], w.olds[start:end]}
		if !w.remove {
			args = append(args, w.new[start:end])
		}
		batch.Queue(text, args...).Query(func(rows pgx.Rows) error {
			var place int
			_, err := pgx.ForEachRow(rows, []any{&place}, func() error {
				done[start+place-1] = true
				n++
				return nil
			})
			return err
		})
	}
	err := c.SendBatch(w.ctx, &batch).Close() // reads the results and commits
	if err != nil {
		clear(done)
		n = 0
	}
	if isMissing(err) {
		err = nil // every document is missing
	}
	if err != nil || n == len(w.ids) {
		return err
	}
	return w.refuse(c, done, unclear)
}

// refuse finds out why changes were not made, and refuses them. A change that an earlier
// attempt has made is not refused: the document then has the new revision, which no other call
// can have written.
func (w *swapping) refuse(c *pgx.Conn, done []bool, unclear bool) error {
	var ids blobs
	for i, id := range w.ids {
		if !done[i] {
			ids = append(ids, id)
		}
	}
	column := "NULL::bytea"
	if unclear {
		column = "doc"
	}
	there := map[string][]byte{}
	err := query(w.ctx, c, func(values [][]byte) { there[string(values[0])] = bytes.Clone(values[1]) },
		"SELECT _id, "+column+" FROM "+w.s.table(w.collection)+" WHERE _id = ANY($1::bytea[])", ids)
	if err != nil && !isMissing(err) {
		return err
	}
	w.refused = w.refused[:0]
	for i, change := range w.changes {
		now, found := there[string(w.ids[i])]
		if done[i] || unclear && !w.remove && bytes.Equal(now, change.New) {
			continue
		}
		refusal := change.Unchanged(found)
		if !found {
			refusal.Err = cmp.Or(maybeDeleted(change.Key.String(), unclear && w.remove), refusal.Err)
		}
		w.refused = append(w.refused, refusal)
	}
	return nil
}
