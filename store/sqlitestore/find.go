package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"iter"
	"strings"

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

// Get returns the document with the key, see [store.Store].
func (s *Store) Get(ctx context.Context, collection string, key store.Key) (bson.Raw, error) {
	var doc []byte
	_, err := s.inCollection(ctx, collection, func() error {
		q := query{text: "SELECT doc FROM " + table(collection) + " WHERE _id = ?", args: []any{argument(key)}}
		return s.explain(ctx, s.row(ctx, q, &doc))
	})
	if err == nil && doc == nil {
		err = engine.NotFound(key)
	}
	return doc, err
}

// manyKeys is how many keys a statement of GetMany has.
const manyKeys = 100

// GetMany returns the documents with the keys, see [store.Store].
func (s *Store) GetMany(ctx context.Context, collection string, keys []store.Key) (docs []bson.Raw, err error) {
	_, err = s.inCollection(ctx, collection, func() error {
		docs, err = engine.GetMany(keys, manyKeys, func(keys []store.Key, yield func(bson.Raw) error) error {
			text := "SELECT doc FROM " + table(collection) + " WHERE _id IN (?" + strings.Repeat(",?", len(keys)-1) + ")"
			args := make([]any, len(keys))
			for i, key := range keys {
				args[i] = argument(key)
			}
			return s.rows(ctx, query{text: text, args: args}, func(rows *sql.Rows) (bool, error) {
				var doc []byte
				if err := rows.Scan(&doc); err != nil {
					return false, err
				}
				return true, yield(doc)
			})
		})
		return s.explain(ctx, err)
	})
	if err == nil && docs == nil {
		docs = make([]bson.Raw, len(keys))
	}
	return docs, err
}

// Count returns the number of documents with a key in r, see [store.Store].
func (s *Store) Count(ctx context.Context, collection string, r store.Range) (n int64, err error) {
	_, err = s.inCollection(ctx, collection, func() error {
		where, args := condition(r, false)
		q := query{text: "SELECT count(*) FROM " + table(collection) + " WHERE " + where, args: args, long: true}
		return s.explain(ctx, s.row(ctx, q, &n))
	})
	return n, err
}

// Find returns the documents that q asks for, see [store.Store].
func (s *Store) Find(ctx context.Context, collection string, q store.Query) iter.Seq2[bson.Raw, error] {
	return engine.Sequence(func(yield func(bson.Raw) error) error {
		_, err := s.inCollection(ctx, collection, func() error { return s.pages(ctx, collection, q, "", nil, yield) })
		return err
	})
}

// FindMany returns the documents in ranges, see [store.Store]. A statement of SQLite
// asks no server, so each range has one.
func (s *Store) FindMany(ctx context.Context, collection string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	docs := make([][]bson.Raw, len(ranges))
	_, err := s.inCollection(ctx, collection, func() error {
		for i, r := range ranges {
			docs[i] = nil
			err := s.pages(ctx, collection, store.Query{Range: r, Limit: limit}, "", nil, func(doc bson.Raw) error {
				docs[i] = append(docs[i], doc)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return docs, nil
}

// Bounds of what is read with one statement and then handed out.
const (
	pageDocs  = 2000
	pageBytes = 1 << 20
)

// pages yields the documents of q for which the SQL condition filter holds, or all
// if it is empty.
func (s *Store) pages(ctx context.Context, collection string, q store.Query, filter string, args []any, yield func(bson.Raw) error) error {
	return engine.Pages(q, pageDocs, func(q store.Query, limit int) (page []bson.Raw, next int, err error) {
		if err := s.life.Err(ctx); err != nil {
			return nil, 0, err
		}
		size := 0
		err = s.rows(ctx, pageQuery(collection, q, filter, args), func(rows *sql.Rows) (bool, error) {
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
		return page, next, s.explain(ctx, err)
	}, yield)
}

// pageQuery returns the query for the documents of q for which filter holds. It has no
// LIMIT: its rows are read until they are enough.
func pageQuery(collection string, q store.Query, filter string, more []any) query {
	r, open := engine.Bounds(q)
	where, args := condition(r, open)
	order := ""
	if q.Descending {
		order = " DESC"
	}
	if filter != "" {
		where += " AND " + filter
	}
	return query{
		text: "SELECT doc FROM " + table(collection) + " WHERE " + where + " ORDER BY _id" + order,
		args: append(args, more...),
		long: filter != "", // what it passes over has no bound
	}
}

// query is a query for reading.
type query struct {
	text string
	args []any

	// long is set if it may take long, so that it must end with its context. For
	// others that costs more than it is worth: to watch a context takes as long as
	// to find a document.
	long bool
}

// maxReaders is how many queries run at once, so that many who ask at once take
// turns instead of taking memory, and how many connections are kept for them: opening one
// takes longer than most queries.
const maxReaders = 16

// rows runs q and calls each for its rows until that wants no more or fails.
func (s *Store) rows(ctx context.Context, q query, each func(*sql.Rows) (more bool, err error)) (err error) {
	defer func() { err = cmp.Or(s.checkFrozen(), err) }()
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
	rows, err := s.read.QueryContext(ctx, q.text, q.args...)
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

// row runs q and scans its first row, if there is one.
func (s *Store) row(ctx context.Context, q query, into ...any) error {
	return s.rows(ctx, q, func(rows *sql.Rows) (bool, error) { return false, rows.Scan(into...) })
}
