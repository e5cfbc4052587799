package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Watch follows a collection, see [engine.Database].
func (s *database) Watch(ctx context.Context, collection string, r store.Range, yield func(bson.Raw) error) error {
	w := watch{s: s, ctx: ctx, collection: collection, span: r, yield: yield}
	return w.run()
}

// watch is one call of Watch. At each time it has yielded the documents that can be seen at
// one moment, done, and no others. A later moment sees all of them, and those of two kinds
// of transactions beside them: those that were under way at done, and those that have a
// number above done.last. So what is between two moments is one query for each kind:
//
//	done   .....x...x....|               x is under way, | is done.last
//	now    .....x........|...x..|        the second x has ended: it is read by its number
type watch struct {
	s          *database
	ctx        context.Context
	collection string
	span       store.Range
	yield      func(bson.Raw) error
}

// run yields what is there at one moment and then, moment after moment, the
// documents that came to be seen since the last.
func (w *watch) run() error {
	news, stop := w.s.listener.listen(w.collection)
	defer stop()
	done, err := w.moment()
	if err != nil {
		return err
	}
	filter, args := done.seen(nil)
	if err := w.s.pages(w.ctx, w.collection, store.Query{Range: w.span}, " AND "+filter, args, w.yield); err != nil {
		return err
	}
	for {
		if err := w.wait(news); err != nil {
			return err
		}
		now, err := w.moment()
		if err != nil {
			return err
		}
		if now.next <= done.last {
			return errors.New("the server has lost transactions that were committed, as a standby that lags behind does when it becomes the primary; watch again from the beginning")
		}
		now.last = max(now.last, done.last)
		if err := w.between(done, now); err != nil {
			return err
		}
		done = now
	}
}

// wait waits until there may be new documents.
func (w *watch) wait(news <-chan struct{}) error {
	poll := w.s.poll
	if w.s.listener.up.Load() {
		poll *= 10
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	case <-news:
	case <-timer.C:
	}
	return w.s.life.Err(w.ctx)
}

// moment describes what can be seen at one moment: the rows of transactions up to last
// that are not under way. Transactions are counted as they begin and may be
// committed in any order, so those under way matter as much as the last.
//
// last is that of a row which can be seen. The server has it on disk, so that a crash
// cannot make it count the same number again, as it may with the greatest of all.
type moment struct {
	last     int64
	underWay []int64 // below last; never nil, which would be NULL
	next     int64   // the number of no transaction that has ended
}

// seen returns the SQL condition for the rows that can be seen at m, with its
// arguments added to args.
func (m moment) seen(args []any) (string, []any) {
	args = append(args, m.last, m.underWay)
	return fmt.Sprintf("xid <= $%d::bigint::text::xid8 AND xid <> ALL ($%d::bigint[]::text[]::xid8[])", len(args)-1, len(args)), args
}

// moment asks the server for the present moment.
func (w *watch) moment() (m moment, err error) {
	t := w.s.table(w.collection)
	err = w.s.do(w.ctx, func(c *pgx.Conn, _ bool) error {
		var first int64
		var standby bool
		err := c.QueryRow(w.ctx, `SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint, ARRAY(SELECT x::text::bigint FROM pg_snapshot_xip(s) x),
			coalesce((SELECT xid FROM `+t+` ORDER BY xid DESC LIMIT 1), '0')::text::bigint, pg_is_in_recovery() FROM pg_current_snapshot() s`).Scan(&first, &m.next, &m.underWay, &m.last, &standby)
		if isMissing(err) {
			m = moment{next: math.MaxInt64, underWay: []int64{}}
			return nil
		}
		m.settle(first, standby)
		if err == nil && m.last >= m.next { // restored from the dump of another server
			if _, err = c.Exec(w.ctx, "UPDATE "+t+" SET xid = '0' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())"); err == nil {
				err = errAgain
			}
		}
		return err
	})
	if errors.Is(err, errAgain) {
		return w.moment()
	}
	return m, err
}

var errAgain = errors.New("again")

// settle makes m that of a snapshot in which all transactions before first have ended. A
// standby does not list the transactions under way, so there all since first count as such.
func (m *moment) settle(first int64, standby bool) {
	m.underWay = append([]int64{}, m.underWay...)
	m.underWay = slices.DeleteFunc(m.underWay, func(n int64) bool { return n >= m.last })
	if standby && m.last < m.next {
		m.last = min(m.last, first-1)
	}
}

// between yields the documents that can be seen at now and could not at done.
func (w *watch) between(done, now moment) error {
	if len(done.underWay) > 0 {
		if err := w.pages("xid = ANY ($1::bigint[]::text[]::xid8[])", done.underWay, now); err != nil {
			return err
		}
	}
	if now.last == done.last {
		return nil
	}
	return w.pages("xid > $1::bigint::text::xid8", done.last, now)
}

// pages yields the documents of transactions for which the condition since, with
// its argument $1, holds and that can be seen at now: transaction after transaction,
// and in the order of keys within each.
func (w *watch) pages(since string, from any, now moment) error {
	base, args := w.query(since, from, now)
	var last page
	return engine.Pages(store.Query{}, firstPage, func(q store.Query, limit int) ([]bson.Raw, int, error) {
		after, args := "", slices.Clone(args)
		if !q.After.IsZero() {
			args = append(args, last.mark, bound(q.After))
			after = fmt.Sprintf(" AND (xid, _id) > ($%d::text::xid8, $%d::bytea)", len(args)-1, len(args))
		}
		text := fmt.Sprintf("%s%s ORDER BY xid, _id LIMIT $%d::bigint", base, after, len(args)+1)
		var err error
		last, err = w.s.page(w.ctx, text, append(args, limit), limit)
		return last.docs, last.next(), err
	}, w.yield)
}

// query returns the query of pages, but for its order and its limit. The number of
// the transaction has a name of its own, since ORDER BY would take the text otherwise.
func (w *watch) query(since string, from any, now moment) (string, []any) {
	seen, args := now.seen([]any{from})
	where, args := condition(w.span, false, args)
	return fmt.Sprintf("SELECT doc, xid::text AS mark FROM %s WHERE %s AND %s AND %s", w.s.table(w.collection), since, seen, where), args
}
