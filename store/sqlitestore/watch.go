package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// Watch yields the documents of commit after commit, see [engine.Database]. Writers take turns, so the
// commits are numbered in the order in which they become visible, and after a
// look at the latest number every document up to it can be seen.
func (s *database) Watch(ctx context.Context, collection string, r store.Range, yield func(bson.Raw) error) error {
	// The version that SQLite counts for a connection changes with the commits
	// of all others, so it takes one that stays.
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer conn.Close()
	tick := time.NewTicker(s.options.Poll)
	defer tick.Stop()
	done, version := int64(0), int64(-1)
	for {
		var now int64
		if err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&now); err != nil {
			return s.explain(ctx, err)
		}
		if now != version {
			if done, err = s.news(ctx, conn, collection, r, done, yield); err != nil {
				return err
			}
			version = now
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if err := cmp.Or(s.life.Err(ctx), s.checkPlace(ctx)); err != nil {
			return err
		}
	}
}

// news yields the documents of the commits after the one numbered done. It
// returns the number of the last.
func (s *database) news(ctx context.Context, conn *sql.Conn, collection string, r store.Range, done int64, yield func(bson.Raw) error) (last int64, err error) {
	var first sql.NullInt64
	var low, high any
	err = conn.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0), min(seq),
		min(low) FILTER (WHERE seq > ?1 AND collection = ?2), max(high) FILTER (WHERE seq > ?1 AND collection = ?2)
		FROM "^1commits"`, done, collection).Scan(&last, &first, &low, &high)
	if isMissing(err) { // opened for reading only, before another process has prepared the file
		return 0, nil
	}
	if err != nil {
		return 0, s.explain(ctx, err)
	}
	if done == 0 || first.Int64 > done+1 { // the notes do not reach back so far
		low, high = nil, nil
	} else if low == nil {
		return last, nil
	}
	filter, args := "seq > ? AND seq <= ?", []any{done, last}
	if low != nil {
		filter += " AND _id >= ? AND _id <= ?"
		args = append(args, low, high)
	}
	return last, s.pages(ctx, collection, store.Query{Range: r}, filter, args, yield)
}
