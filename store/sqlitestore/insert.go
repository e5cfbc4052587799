package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// Insert stores doc and returns its key, see [store.Store].
func (s *Store) Insert(ctx context.Context, collection string, doc any) (store.Key, error) {
	keys, err := s.InsertMany(ctx, collection, []any{doc}, nil)
	var refused *store.InsertError
	if errors.As(err, &refused) {
		err = refused.Refused[0].Err
	}
	if err != nil {
		return store.Key{}, err
	}
	return keys[0], nil
}

// One transaction takes as many documents as this, so that others get their turn
// and the WAL file stays small.
const (
	insertDocs  = 10_000
	insertBytes = 16 << 20
)

// InsertMany stores documents, see [store.Store].
func (s *Store) InsertMany(ctx context.Context, collection string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	if s.closed.Load() {
		return nil, store.ErrClosed
	}
	if err := store.CheckCollection(collection); err != nil {
		return nil, err
	}
	in := inserting{s: s, collection: collection, keys: make([]store.Key, len(docs)), ordered: o != nil && o.Ordered}
	for i, doc := range docs {
		if err := in.add(ctx, i, doc); err != nil {
			return in.keys, err
		}
		if in.stopped() {
			break
		}
	}
	if err := in.flush(ctx); err != nil {
		return in.keys, err
	}
	return in.keys, in.err()
}

// inserting is one call of InsertMany.
type inserting struct {
	s          *Store
	collection string
	ordered    bool
	keys       []store.Key
	refused    []store.Refusal

	batch []row // prepared and not yet stored
	size  int   // bytes in batch
}

// row is a document on its way to its table.
type row struct {
	index int
	key   store.Key
	doc   bson.Raw
}

func (in *inserting) add(ctx context.Context, i int, doc any) error {
	key, raw, err := store.Prepare(doc, in.s.options.NewID)
	if err != nil {
		if in.ordered { // an earlier document may have to be refused instead
			if err := in.flush(ctx); err != nil || in.stopped() {
				return err
			}
		}
		in.refused = append(in.refused, store.Refusal{Index: i, Err: err})
		return nil
	}
	in.batch = append(in.batch, row{i, key, raw})
	in.size += len(raw)
	if len(in.batch) == insertDocs || in.size >= insertBytes {
		return in.flush(ctx)
	}
	return nil
}

func (in *inserting) stopped() bool { return in.ordered && len(in.refused) > 0 }

func (in *inserting) err() error {
	if in.refused == nil {
		return nil
	}
	slices.SortFunc(in.refused, func(a, b store.Refusal) int { return a.Index - b.Index })
	return &store.InsertError{Refused: in.refused}
}

// flush stores the batch in one transaction.
func (in *inserting) flush(ctx context.Context) error {
	if in.stopped() || len(in.batch) == 0 {
		return nil
	}
	var stored []row
	var refused []store.Refusal
	err := in.s.update(ctx, func(tx *sql.Tx) (err error) {
		stored, refused, err = in.insert(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	in.s.tables.Store(in.collection, true)
	for _, r := range stored {
		in.keys[r.index] = r.key
	}
	in.refused = append(in.refused, refused...)
	in.batch, in.size = in.batch[:0], 0
	return nil
}

// chunk is how many documents one statement inserts.
const chunk = 100

// insert puts the batch into its table, and a note of that into the table of
// commits.
func (in *inserting) insert(ctx context.Context, tx *sql.Tx) (stored []row, refused []store.Refusal, err error) {
	if _, known := in.s.tables.Load(in.collection); !known {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+table(in.collection)+" (_id ANY PRIMARY KEY, seq INTEGER NOT NULL, doc BLOB NOT NULL) STRICT, WITHOUT ROWID"); err != nil {
			return nil, nil, err
		}
	}
	var seq int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) + 1 FROM "^1commits"`).Scan(&seq); err != nil {
		return nil, nil, err
	}
	one, err := tx.PrepareContext(ctx, insertInto(in.collection, 1))
	if err != nil {
		return nil, nil, err
	}
	defer one.Close()
	var many *sql.Stmt
	if len(in.batch) >= chunk {
		if many, err = tx.PrepareContext(ctx, insertInto(in.collection, chunk)); err != nil {
			return nil, nil, err
		}
		defer many.Close()
	}
	stored = make([]row, 0, len(in.batch))
	args := make([]any, 0, 1+2*chunk)
	for rest := in.batch; len(rest) > 0; {
		if len(rest) >= chunk {
			_, err := many.ExecContext(ctx, arguments(args, seq, rest[:chunk])...)
			if err == nil {
				stored, rest = append(stored, rest[:chunk]...), rest[chunk:]
				continue
			}
			if !isTaken(err) {
				return nil, nil, err
			}
		}
		// Short of a chunk, or one of the chunk is there already.
		for _, r := range rest[:min(len(rest), chunk)] {
			_, err := one.ExecContext(ctx, arguments(args, seq, []row{r})...)
			switch {
			case err == nil:
				stored = append(stored, r)
			case !isTaken(err):
				return nil, nil, err
			default:
				refused = append(refused, store.Refusal{Index: r.index, Err: fmt.Errorf("%w: %s", store.ErrDuplicate, r.key)})
				if in.ordered {
					return stored, refused, note(ctx, tx, seq, in.collection, stored)
				}
			}
		}
		rest = rest[min(len(rest), chunk):]
	}
	return stored, refused, note(ctx, tx, seq, in.collection, stored)
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

func arguments(args []any, seq int64, rows []row) []any {
	args = append(args[:0], seq)
	for _, r := range rows {
		args = append(args, argument(r.key), []byte(r.doc))
	}
	return args
}

// keptNotes is how many commits have a note: what watchers that keep up need.
const keptNotes = 1000

// note records which keys a commit brought, for watchers.
func note(ctx context.Context, tx *sql.Tx, seq int64, collection string, stored []row) error {
	if len(stored) == 0 {
		return nil
	}
	low, high := stored[0].key, stored[0].key
	for _, r := range stored[1:] {
		if r.key.Compare(low) < 0 {
			low = r.key
		}
		if r.key.Compare(high) > 0 {
			high = r.key
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
