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

// Replace puts doc in the place of the one with the key, see [engine.Database].
func (s *database) Replace(ctx context.Context, collection string, key store.Key, doc bson.Raw) (bool, error) {
	id, err := encode(key)
	if err != nil {
		return false, err
	}
	n, _, err := s.exec(ctx, "UPDATE "+s.table(collection)+" SET doc = $2::bytea WHERE _id = $1::bytea", id, []byte(doc)) // a second time changes nothing
	return n > 0, err
}

// exec runs a statement that changes rows, and returns how many: none if the collection
// has no table. unclear is true if an earlier try may have changed others.
func (s *database) exec(ctx context.Context, text string, args ...any) (n int64, unclear bool, err error) {
	err = s.do(ctx, func(c *pgx.Conn, again bool) error {
		tag, err := c.Exec(ctx, text, args...)
		n, unclear = tag.RowsAffected(), again
		return noneIfMissing(err)
	})
	return n, unclear, err
}

// gone returns the error for what was to be deleted and is not there, if an earlier try of
// the call is unclear: that may have deleted it, or another call.
func gone(what string, unclear bool) error {
	if unclear {
		return fmt.Errorf("%w: %s: the connection was lost meanwhile, so this call may have deleted it", store.ErrNotFound, what)
	}
	return nil
}

// Delete removes the document with the key, see [engine.Database].
func (s *database) Delete(ctx context.Context, collection string, key store.Key) (bool, error) {
	n, unclear, err := s.exec(ctx, "DELETE FROM "+s.table(collection)+" WHERE _id = $1::bytea", bound(key))
	if err == nil && n == 0 {
		err = gone(key.String(), unclear)
	}
	return n > 0, err
}

// deletePage is how many documents DeleteRange removes in one transaction: few, so
// that it does not keep others waiting.
const deletePage = 5000

// DeleteRange removes the documents with a key in r, see [engine.Database].
func (s *database) DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error) {
	where, args := condition(r, false)
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

// swapRows is how many swaps one statement does. The server looks up each key of
// a statement that is not large, in the order given; for a large one it may read
// the whole table instead, in an order in which writers could wait for one another
// in a circle. So many statements are one transaction: one commit for them, which
// waits for the disk, and one way to the server and back.
const (
	swapRows       = 500
	swapStatements = 4
)

// Change does changes, see [engine.Database].
func (s *database) Change(ctx context.Context, collection string, changes []engine.Change) (refused []store.RefusedItem, err error) {
	if len(changes) > 1 {
		s.leaveRoom(ctx, collection)
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

// room is the fillfactor of a table whose documents are replaced in bulk.
const room = 50

// leaveRoom makes the server leave room in a table for the next versions of its
// documents, unless the table has a fillfactor: a version that finds room beside the
// last needs no new entries in the indexes. It asks once for each collection, and
// does without if the server refuses or somebody has locked the table.
func (s *database) leaveRoom(ctx context.Context, collection string) {
	if _, done := s.roomy.LoadOrStore(collection, true); done {
		return
	}
	_ = s.do(ctx, func(c *pgx.Conn, _ bool) error {
		var given bool
		err := c.QueryRow(ctx, "SELECT coalesce(array_to_string(reloptions, ' ') LIKE '%fillfactor=%', false) FROM pg_class WHERE oid = to_regclass($1::text)", s.table(collection)).Scan(&given)
		if err != nil || given {
			return err
		}
		text := fmt.Sprintf("BEGIN; SET LOCAL lock_timeout = '50ms'; ALTER TABLE %s SET (fillfactor = %d); COMMIT", s.table(collection), room)
		if _, err = c.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			_, _ = c.Exec(ctx, "ROLLBACK", pgx.QueryExecModeSimpleProtocol)
		}
		return err
	})
}

// swap does changes, replacements and deletions each in one transaction.
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

// blobs is an argument of type bytea[]. pgx encodes a [][]byte with reflection.
type blobs = pgtype.FlatArray[[]byte]

// swapping is one transaction that replaces or removes documents, in the order of
// their keys.
type swapping struct {
	s          *database
	ctx        context.Context
	collection string
	remove     bool

	changes        []engine.Change
	ids, olds, new blobs
	refused        []store.RefusedItem
}

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
	err := c.SendBatch(w.ctx, &batch).Close() // which reads the results, and commits
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

// refuse finds out why changes were not done. One that an earlier try has done was
// done: its document has the revision that nobody else can have written.
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
			refusal.Err = cmp.Or(gone(change.Key.String(), unclear && w.remove), refusal.Err)
		}
		w.refused = append(w.refused, refusal)
	}
	return nil
}
