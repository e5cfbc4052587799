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

// argument returns key as the value that SQLite stores for it.
func argument(key store.Key) any {
	if id, ok := key.ID(); ok {
		return id[:]
	}
	return key.Value()
}

// condition returns the SQL condition that _id is in r, and its arguments. If open is true, r
// does not contain its lower bound.
func condition(r store.Range, open bool) (where string, args []any) {
	where = engine.Where(r, open, func(bound store.Key) string {
		args = append(args, argument(bound))
		return "?"
	})
	return where, args
}

// manyKeys is the number of keys in a statement of GetMany.
const manyKeys = 100

// Lookup implements [engine.Database]. It repeats the last key until there are manyKeys, so that
// all statements for several keys have the same text and can stay prepared.
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

// Count implements [engine.Database].
func (s *database) Count(ctx context.Context, collection string, r store.Range) (n int64, err error) {
	where, args := condition(r, false)
	q := query{text: "SELECT count(*) FROM " + table(collection) + " WHERE " + where, args: args, long: true}
	err = s.rows(ctx, q, func(rows *sql.Rows) (bool, error) { return false, rows.Scan(&n) })
	return n, err
}

// Limits of a page, which is read with one statement before its documents are returned.
const (
	pageDocs  = 2000
	pageBytes = 1 << 20
)

// Find implements [engine.Database].
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

// pageQuery returns the query for the documents of q. It has no LIMIT: with a number in the
// text, each limit would need a statement of its own, and with a parameter SQLite would prepare
// the statement again each time.
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
	text string // statements are kept prepared by text, so values belong in args
	args []any

	// long is set if the query may take long. Only long queries are interrupted when their
	// context is done: watching a context takes as long as finding a document.
	long bool
}

// maxReaders is the maximum number of read queries that run at once, which bounds memory; more
// queries wait. It is also the number of idle connections that are kept with their prepared
// statements, because opening a connection takes longer than most queries.
const maxReaders = 16

// rows runs q and calls each for every row, until each returns false or an error. A table that
// does not exist has no rows. The error is one of explain.
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

// maxStatements is the maximum number of read statements that are kept prepared. A collection
// needs only a few.
const maxStatements = 128

// statements holds prepared read statements by their text. Preparing a statement that finds one
// document takes SQLite longer than running it.
type statements struct {
	kept sync.Map // *sql.Stmt by text
	n    atomic.Int64
}

// query runs q with its prepared statement. If there is none, it prepares one and keeps it until
// db is closed.
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
	if _, twice := t.kept.LoadOrStore(q.text, statement); twice { // another goroutine has prepared it meanwhile
		defer statement.Close()
	} else {
		t.n.Add(1)
	}
	return statement.QueryContext(ctx, q.args...)
}
