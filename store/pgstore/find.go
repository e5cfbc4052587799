package pgstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// manyKeys is the maximum number of keys or ranges in one statement of GetMany or FindMany.
const manyKeys = 500

// Lookup implements [engine.Database].
func (s *database) Lookup(ctx context.Context, collection string, keys []store.Key, yield func(bson.Raw) error) error {
	text := "SELECT doc FROM " + s.table(collection) + " WHERE _id = "
	if len(keys) == 1 {
		p, err := s.page(ctx, text+"$1::bytea", []any{bound(keys[0])}, 1)
		if err != nil || len(p.docs) == 0 {
			return err
		}
		return yield(p.docs[0])
	}
	text += "ANY($1::bytea[])"
	ids := make(map[store.Key][]byte, len(keys))
	for _, key := range keys {
		ids[key] = bound(key)
	}
	for {
		p, err := s.page(ctx, text, []any{blobs(slices.Collect(maps.Values(ids)))}, len(ids)+1)
		if err != nil {
			return err
		}
		for _, doc := range p.docs {
			if err := yield(doc); err != nil {
				return err
			}
			if key, err := store.KeyOf(doc); err == nil {
				delete(ids, key)
			}
		}
		if !p.more { // if there are more, the page reached maxBytes
			return nil
		}
	}
}

// Count implements [engine.Database].
func (s *database) Count(ctx context.Context, collection string, r store.Range) (n int64, err error) {
	where, args := condition(r, false)
	err = s.do(ctx, func(c *pgx.Conn, _ bool) error {
		return nilIfMissing(c.QueryRow(ctx, "SELECT count(*) FROM "+s.table(collection)+" WHERE "+where, args...).Scan(&n))
	})
	return n, err
}

// Sizes of a page, which is read with one statement before its documents are returned.
const (
	firstPage = 2000    // documents in the first page
	maxPage   = 16000   // maximum number of documents in later pages
	pageBytes = 4 << 20 // size that later pages should have, in bytes
	maxBytes  = 8 << 20 // size at which reading a page is broken off, in bytes
)

// Find implements [engine.Database].
func (s *database) Find(ctx context.Context, collection string, q store.Query, yield func(bson.Raw) error) error {
	return engine.Pages(q, firstPage, func(q store.Query, limit int) ([]bson.Raw, int, error) {
		text, args := s.pageQuery(collection, q, limit)
		p, err := s.page(ctx, text, args, limit)
		return p.docs, p.next(), err
	}, yield)
}

// pageQuery returns the SQL query for the first documents of q, at most limit, and its arguments.
func (s *database) pageQuery(collection string, q store.Query, limit int) (string, []any) {
	r, open := engine.Bounds(q)
	where, args := condition(r, open)
	order := ""
	if q.Descending {
		order = " DESC"
	}
	args = append(args, limit)
	return fmt.Sprintf("SELECT doc FROM %s WHERE %s ORDER BY _id%s LIMIT $%d::bigint", s.table(collection), where, order, len(args)), args
}

// page is the result of one query for documents.
type page struct {
	docs []bson.Raw
	more bool // whether there may be more documents
}

// next returns the number of documents that the next page should have to be about pageBytes
// large, or 0 if p is the last page.
func (p page) next() int {
	if !p.more {
		return 0
	}
	size := 1
	for _, doc := range p.docs {
		size += len(doc)
	}
	return min(1+pageBytes*len(p.docs)/size, maxPage)
}

// page runs a query that returns at most limit documents.
func (s *database) page(ctx context.Context, query string, args []any, limit int) (p page, err error) {
	err = s.do(ctx, func(c *pgx.Conn, _ bool) error {
		rows, err := c.Query(ctx, query, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
		if err == nil {
			p, err = readPage(ctx, c, rows, limit)
		}
		return nilIfMissing(err)
	})
	return p, err
}

// readPage reads the rows of a page. When their documents reach maxBytes, it cancels the query:
// pgx would otherwise read the remaining rows before it can use the connection again.
func readPage(ctx context.Context, c *pgx.Conn, rows pgx.Rows, limit int) (p page, err error) {
	defer rows.Close()
	for size := 0; rows.Next(); {
		values := rows.RawValues()
		if len(p.docs) == firstPage { // the page probably reaches its limit
			p.docs = slices.Grow(p.docs, limit-firstPage)
		}
		p.docs = append(p.docs, slices.Clone(values[0]))
		if size += len(values[0]); size < maxBytes || len(p.docs) == limit {
			continue
		}
		if err := c.PgConn().CancelRequest(ctx); err != nil {
			return page{}, err
		}
		rows.Close()
		if err := rows.Err(); err != nil && code(err) != queryCanceled {
			return page{}, err
		}
		p.more = true
		return p, nil
	}
	p.more = len(p.docs) == limit
	return p, rows.Err()
}

// query runs a query and calls each with the values of every row. The values are valid only
// during that call.
func query(ctx context.Context, q querier, each func(values [][]byte), text string, args ...any) error {
	rows, err := q.Query(ctx, text, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		each(rows.RawValues())
	}
	return rows.Err()
}

// FindMany implements [store.Store].
func (s *Store) FindMany(ctx context.Context, collection string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	if err := s.db.life.Check(ctx, collection); err != nil {
		return nil, err
	}
	docs := make([][]bson.Raw, 0, len(ranges))
	for some := range slices.Chunk(ranges, manyKeys) {
		found, err := s.db.findMany(ctx, collection, some, limit)
		if err != nil {
			return nil, err
		}
		docs = append(docs, found...)
	}
	return docs, nil
}

// findMany is FindMany with a single statement, which looks up each range in the index.
func (s *database) findMany(ctx context.Context, collection string, ranges []store.Range, limit int) (docs [][]bson.Raw, err error) {
	from, to := make(blobs, len(ranges)), make(blobs, len(ranges))
	for i, r := range ranges {
		if from[i], to[i] = bound(r.From), []byte{tagEnd}; !r.To.IsZero() {
			to[i] = bound(r.To)
		}
	}
	few := ""
	if limit > 0 {
		few = fmt.Sprintf(" LIMIT %d", limit) // not an argument: the server would then plan for a tenth of the range
	}
	text := fmt.Sprintf(`SELECT place, doc FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS r (low, high, place),
		LATERAL (SELECT _id, doc FROM %s WHERE _id >= r.low AND _id < r.high ORDER BY _id%s) AS found ORDER BY place, _id`, s.table(collection), few)
	err = s.do(ctx, func(c *pgx.Conn, _ bool) error {
		docs = make([][]bson.Raw, len(ranges))
		return nilIfMissing(query(ctx, c, func(values [][]byte) {
			i := binary.BigEndian.Uint64(values[0]) - 1
			docs[i] = append(docs[i], slices.Clone(values[1]))
		}, text, from, to))
	})
	return docs, err
}

// Now returns the current time by the clock of the server. [store.Now] calls it.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.db.do(ctx, func(c *pgx.Conn, _ bool) error {
		return c.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now)
	})
	return now, err
}
