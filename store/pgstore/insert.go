package pgstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Insert implements [engine.Database].
func (s *database) Insert(ctx context.Context, collection string, b *engine.Batch) ([]store.RefusedItem, error) {
	rest := b.Rest()
	in := insertion{ctx: ctx, s: s, collection: collection, streamed: len(rest) >= copyRows && sorted(rest), call: int64(rand.Uint64()), Batch: b}
	in.rows, in.ids = make([]row, 0, len(rest)), make([]byte, 0, 16*len(rest))
	if !in.streamed || b.Careful {
		in.prepare()
	}
	if len(in.rows) == 0 && in.more() == nil {
		return in.refused, nil
	}
	err := s.do(ctx, in.store)
	return in.refused, err
}

// insertion inserts one batch of documents. Each is inserted once, even if the connection is
// lost: its row contains the number of the call that inserted it, so an attempt recognizes the
// rows that an earlier attempt of the same call has inserted.
type insertion struct {
	*engine.Batch // Careful is set after a COPY has failed because a key was taken
	ctx           context.Context
	s             *database
	collection    string
	streamed      bool   // whether COPY sends rows while later rows are prepared
	call          int64  // random number of the call
	ids           []byte // memory for the encoded keys
	rows          []row  // in the order of their keys
	refused       []store.RefusedItem
}

// row is a document with its encoded key.
type row struct {
	*engine.Row
	id []byte
}

// sorted reports whether docs are BSON documents that begin with an ObjectId and are sorted by
// it, as in a backup. If so, they can be sent before all of them are prepared: they are
// already in the order of their keys, and their keys are valid and distinct.
func sorted(docs []any) bool {
	const head = "\x07_id\x00"
	var last []byte
	for _, doc := range docs {
		raw, _ := doc.(bson.Raw)
		if len(raw) < 4+len(head)+objectid.Size || string(raw[4:4+len(head)]) != head {
			return false
		}
		id := raw[4+len(head):][:objectid.Size]
		if bytes.Compare(last, id) >= 0 {
			return false
		}
		last = id
	}
	return true
}

// more prepares the next row. It returns a slice with that row, or an empty one after the last
// row. It refuses documents that PostgreSQL cannot store.
func (in *insertion) more() []row {
	for r := in.Next(); r != nil; r = in.Next() {
		start := len(in.ids)
		var err error
		if in.ids, err = appendKey(in.ids, r.Key); err == nil {
			in.rows = append(in.rows, row{r, in.ids[start:len(in.ids):len(in.ids)]})
			return in.rows[len(in.rows)-1:]
		}
		in.refuse(r, err)
	}
	return nil
}

// prepare prepares all rows and sorts them by key. All writers insert in the order of keys, which
// avoids deadlocks.
func (in *insertion) prepare() {
	inOrder := true
	for in.more() != nil {
		n := len(in.rows)
		inOrder = inOrder && (n < 2 || bytes.Compare(in.rows[n-2].id, in.rows[n-1].id) < 0)
	}
	if !inOrder {
		in.sort()
	}
	in.cut()
}

// sort sorts the rows by key. It refuses a row if an earlier document of the batch has its key.
func (in *insertion) sort() {
	slices.SortFunc(in.rows, func(a, b row) int { return cmp.Or(bytes.Compare(a.id, b.id), a.Index-b.Index) })
	kept := in.rows[:0]
	for _, r := range in.rows {
		if len(kept) > 0 && bytes.Equal(kept[len(kept)-1].id, r.id) {
			in.refuse(r.Row, r.Duplicate().Err)
			continue
		}
		kept = append(kept, r)
	}
	in.rows = kept
}

// refuse adds a refused document to in.refused. In an ordered call, only the refused document
// with the smallest index counts.
func (in *insertion) refuse(r *engine.Row, err error) {
	if in.Ordered() && len(in.refused) > 0 {
		if in.refused[0].Index < r.Index {
			return
		}
		in.refused = nil
	}
	in.refused = append(in.refused, store.RefusedItem{Index: r.Index, Err: err})
}

// cut removes the refused row of an ordered call and all rows after it.
func (in *insertion) cut() {
	if in.Ordered() && len(in.refused) > 0 {
		in.rows = slices.DeleteFunc(in.rows, func(r row) bool { return r.Index >= in.refused[0].Index })
	}
}

// store inserts the rows, and creates the table if it does not exist.
func (in *insertion) store(c *pgx.Conn, unclear bool) error {
	err := in.put(c, unclear)
	if isMissing(err) {
		if err = in.s.create(in.ctx, c, in.collection); err == nil {
			err = in.put(c, unclear)
		}
	}
	return err
}

// put inserts the rows with COPY if that is likely to succeed, and with INSERT otherwise.
func (in *insertion) put(c *pgx.Conn, unclear bool) error {
	if !unclear && !in.Careful && (in.streamed || len(in.rows) >= copyRows) {
		err := in.copy(c)
		if code(err) != uniqueViolation {
			return err
		}
		in.Careful = true
	}
	if in.Ordered() {
		return in.insertOrdered(c, unclear)
	}
	_, err := in.insert(c, unclear)
	return err
}

// insert inserts the rows whose keys are not taken. It refuses the other rows, except those that
// an earlier attempt of this call has inserted. complete reports whether no row was refused.
func (in *insertion) insert(q querier, unclear bool) (complete bool, err error) {
	ids, docs := make(blobs, len(in.rows)), make(blobs, len(in.rows))
	for i, r := range in.rows {
		ids[i], docs[i] = r.id, r.Doc
	}
	t := in.s.table(in.collection)
	stored := make(map[string]bool, len(in.rows))
	note := func(values [][]byte) { stored[string(values[0])] = true }
	err = query(in.ctx, q, note, "INSERT INTO "+t+` (_id, doc, call)
		SELECT id, doc, $3::bigint FROM unnest($1::bytea[], $2::bytea[]) AS new (id, doc) ON CONFLICT (_id) DO NOTHING RETURNING _id`, ids, docs, in.call)
	if err == nil && unclear && len(stored) < len(ids) {
		err = query(in.ctx, q, note, "SELECT _id FROM "+t+" WHERE _id = ANY($1::bytea[]) AND call = $2::bigint", ids, in.call)
	}
	if err != nil {
		return false, err
	}
	for _, r := range in.rows {
		if !stored[string(r.id)] {
			in.refuse(r.Row, r.Duplicate().Err)
		}
	}
	return len(stored) == len(in.rows), nil
}

// errTaken rolls a transaction back because the key of a row is taken.
var errTaken = errors.New("a key is taken")

// insertOrdered inserts the rows before the first document whose key is taken.
func (in *insertion) insertOrdered(c *pgx.Conn, unclear bool) error {
	for len(in.rows) > 0 {
		complete := false
		err := pgx.BeginFunc(in.ctx, c, func(tx pgx.Tx) (err error) {
			if complete, err = in.insert(tx, unclear); err == nil && !complete {
				err = errTaken // roll back; then insert the rows before the refused one
			}
			return err
		})
		if complete || !errors.Is(err, errTaken) {
			return err
		}
		in.cut()
	}
	return nil
}
