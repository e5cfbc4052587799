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

// Insert stores documents, see [engine.Database].
func (s *database) Insert(ctx context.Context, collection string, b *engine.Batch) ([]store.RefusedItem, error) {
	rest := b.Rest()
	in := insertion{ctx: ctx, s: s, collection: collection, streamed: len(rest) >= copyRows && rising(rest), call: int64(rand.Uint64()), Batch: b}
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

// insertion is the storing of one batch of documents. Whether the connection is
// lost or not, each is stored once: its row holds the number of the call that
// stored it, so that a call that is made again finds what it has stored before.
type insertion struct {
	*engine.Batch // Careful if a key is likely to be taken
	ctx           context.Context
	s             *database
	collection    string
	streamed      bool   // rows are prepared while those before them are copied
	call          int64  // random
	ids           []byte // one piece of memory for most keys
	rows          []row  // in the order of their keys
	refused       []store.RefusedItem
}

// row is a document with its encoded key.
type row struct {
	*engine.Row
	id []byte
}

// rising reports whether docs are BSON with an ObjectId in front that is greater than that
// before, as they are in a backup: then they are in the order of their keys, none of which
// is refused by this package, before anything else is known of them.
func rising(docs []any) bool {
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

// more prepares the next row and returns it alone, or none after the last. It refuses
// the documents that need no question to the server.
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

// prepare prepares all rows. All writers insert in the order of keys, lest they wait for
// one another in a circle.
func (in *insertion) prepare() {
	sorted := true
	for in.more() != nil {
		n := len(in.rows)
		sorted = sorted && (n < 2 || bytes.Compare(in.rows[n-2].id, in.rows[n-1].id) < 0)
	}
	if !sorted {
		in.sort()
	}
	in.cut()
}

// sort sorts the rows and refuses those whose key an earlier one has.
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

// refuse notes a document that is not stored. In an ordered call that is the first
// one alone.
func (in *insertion) refuse(r *engine.Row, err error) {
	if in.Ordered() && len(in.refused) > 0 {
		if in.refused[0].Index < r.Index {
			return
		}
		in.refused = nil
	}
	in.refused = append(in.refused, store.RefusedItem{Index: r.Index, Err: err})
}

// cut drops the rows after the refused one of an ordered call.
func (in *insertion) cut() {
	if in.Ordered() && len(in.refused) > 0 {
		in.rows = slices.DeleteFunc(in.rows, func(r row) bool { return r.Index >= in.refused[0].Index })
	}
}

// store stores the rows.
func (in *insertion) store(c *pgx.Conn, unclear bool) error {
	err := in.put(c, unclear)
	if isMissing(err) {
		if err = in.s.create(in.ctx, c, in.collection); err == nil {
			err = in.put(c, unclear)
		}
	}
	return err
}

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

// insert stores the rows whose keys are free and refuses the others, but for those that
// an earlier try of the call has stored. It reports whether there are none to refuse.
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

// errTaken means that the key of a row is taken.
var errTaken = errors.New("a key is taken")

// insertOrdered stores the rows before the first whose key is taken.
func (in *insertion) insertOrdered(c *pgx.Conn, unclear bool) error {
	for len(in.rows) > 0 {
		complete := false
		err := pgx.BeginFunc(in.ctx, c, func(tx pgx.Tx) (err error) {
			if complete, err = in.insert(tx, unclear); err == nil && !complete {
				err = errTaken // nothing of this is stored
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
