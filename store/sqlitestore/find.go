package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"strings"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// argument returns key as what SQLite keeps it as.
func argument(key store.Key) any {
	if id, ok := key.ID(); ok {
		return id[:]
	}
	return key.Value()
}

// condition returns r as SQL. The lower bound is left out of it if open is true.
func condition(r store.Range, open bool) (where string, args []any) {
	where = engine.Where(r, open, func(bound store.Key) string {
		args = append(args, argument(bound))
		return "?"
	})
	return where, args
}

// manyKeys is how many keys a statement of GetMany has.
const manyKeys = 100

// Lookup yields the documents with the keys, see [engine.Database]. Statements for many
// have one text.
func (s *database) Lookup(ctx context.Context, collection string, keys []store.Key, yield func(bson.Raw) error) error {
	n := manyKeys
	if len(keys) == 1 {
		n = 1
	}
	args := make([]any, n)
	for i := range args {
		args[i] = argument(keys[min(i, len(keys)-1)])
	}
	text := "SELECT doc FROM " + table(collection) + " WHERE _id IN (?" + strings.Repeat(",?", n-1) + ")"
	return s.rows(ctx, query{text: text, args: args}, func(rows *sql.Rows) (bool, error) {
		var doc []byte
		if err := rows.Scan(&doc); err != nil {
			return false, err
		}
		return true, yield(doc)
	})
}

// Count returns the number of documents with a key in r, see [engine.Database].
func (s *database) Count(ctx context.Context, collection string, r store.Range) (n int64, err error) {
	where, args := condition(r, false)
	q := query{text: "SELECT count(*) FROM " + table(collection) + " WHERE " + where, args: args, long: true}
	err = s.rows(ctx, q, func(rows *sql.Rows) (bool, error) { return false, rows.Scan(&n) })
	return n, err
}

// Bounds of what is read with one statement and then handed out.
const (
	pageDocs  = 2000
	pageBytes = 1 << 20
)

// Find yields the documents that q asks for, see [engine.Database].
func (s *database) Find(ctx context.Context, collection string, q store.Query, yield func(bson.Raw) error) error {
	return engine.Pages(q, pageDocs, func(q store.Query, limit int) (page []bson.Raw, next int, err error) {
		size := 0
		err = s.rows(ctx, pageQuery(collection, q), func(rows *sql.Rows) (bool, error) {
			var doc []byte
			if err := rows.Scan(&doc); err != nil {
				return false, err
			}
			page = append(page, doc)
			if size += len(doc); size >= pageBytes || len(page) == limit {
				next = pageDocs
			}
			return next == 0, nil
		})
		return page, next, err
	}, yield)
}

// pageQuery returns the query for the documents of q. It has no LIMIT: with a number for
// it the text would change with each limit, and with a parameter SQLite would prepare it
// again each time.
func pageQuery(collection string, q store.Query) query {
	r, open := engine.Bounds(q)
	where, args := condition(r, open)
	order := ""
	if q.Descending {
		order = " DESC"
	}
	return query{text: "SELECT doc FROM " + table(collection) + " WHERE " + where + " ORDER BY _id" + order, args: args}
}

// query is a query for reading.
type query struct {
	text string // comes again: what changes belongs in args
	args []any

	// long is set if it may take long, so that it must end with its context. For
	// others that costs more than it is worth: to watch a context takes as long as
	// to find a document.
	long bool
}

// maxReaders is how many queries run at once, so that many who ask at once take
// turns instead of taking memory, and how many connections are kept for them, with
// their prepared statements: opening one takes longer than most queries.
const maxReaders = 16

// rows runs q and calls each for its rows until that wants no more or fails. A table that
// does not exist has none. The error is explained.
func (s *database) rows(ctx context.Context, q query, each func(*sql.Rows) (more bool, err error)) error {
	err := s.tryRows(ctx, q, each)
	if err = cmp.Or(s.checkFrozen(), err); isMissing(err) {
		return nil
	}
	return s.explain(ctx, err)
}

func (s *database) tryRows(ctx context.Context, q query, each func(*sql.Rows) (more bool, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.readers <- struct{}{}:
		defer func() { <-s.readers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if !q.long {
		ctx = context.WithoutCancel(ctx)
	}
	rows, err := s.statements.query(ctx, s.read, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if more, err := each(rows); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}

// maxStatements is how many statements for reading are kept prepared. There are a
// few for each collection.
const maxStatements = 128

// statements are those for reading that have been prepared, by their texts. SQLite takes
// longer to prepare a statement that finds one document than to run it.
type statements struct {
	kept sync.Map // of *sql.Stmt
	n    atomic.Int64
}

// query runs a query with its statement, which it prepares and keeps until db is closed.
func (t *statements) query(ctx context.Context, db *sql.DB, q query) (*sql.Rows, error) {
	if kept, found := t.kept.Load(q.text); found {
		return kept.(*sql.Stmt).QueryContext(ctx, q.args...)
	}
	if t.n.Load() >= maxStatements {
		return db.QueryContext(ctx, q.text, q.args...)
	}
	statement, err := db.PrepareContext(ctx, q.text)
	if err != nil {
		return nil, err
	}
	if _, twice := t.kept.LoadOrStore(q.text, statement); twice { // another prepared it at once
		defer statement.Close()
	} else {
		t.n.Add(1)
	}
	return statement.QueryContext(ctx, q.args...)
}
