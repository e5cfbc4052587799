package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/store"
)

// PollEvery makes Watch look so often where the server sends no notifications.
func (s *Store) PollEvery(d time.Duration) { s.db.poll = d }

// Plan returns how the server would run the first query of Find, and of Watch for the
// documents that come.
func (s *Store) Plan(ctx context.Context, collection string, q store.Query) (find, follow string, err error) {
	text, args := s.db.pageQuery(collection, q, "", nil, firstPage)
	if find, err = s.plan(ctx, text, args); err != nil {
		return "", "", err
	}
	w := &watch{s: s.db, ctx: ctx, collection: collection}
	now, err := w.moment()
	if err != nil {
		return "", "", err
	}
	text, args = w.query("xid > $1::bigint::text::xid8", now.last-1, now)
	follow, err = s.plan(ctx, text+" ORDER BY xid, _id LIMIT 2000", args)
	return find, follow, err
}

// FirstPage returns how many documents the first page of Find has, and whether there
// may be others.
func (s *Store) FirstPage(ctx context.Context, collection string) (docs int, more bool, err error) {
	text, args := s.db.pageQuery(collection, store.Query{}, "", nil, firstPage)
	p, err := s.db.page(ctx, text, args, firstPage)
	return len(p.docs), p.more, err
}

func (s *Store) plan(ctx context.Context, query string, args []any) (plan string, err error) {
	rows, err := s.db.pool.Query(ctx, "EXPLAIN "+query, args...)
	if err != nil {
		return "", err
	}
	var line string
	_, err = pgx.ForEachRow(rows, []any{&line}, func() error {
		plan += line + "\n"
		return nil
	})
	return plan, err
}
