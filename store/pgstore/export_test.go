package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/store"
)

// Plan returns how the server would run the first query of Find.
func (s *Store) Plan(ctx context.Context, collection string, q store.Query) (plan string, err error) {
	text, args := s.db.pageQuery(collection, q, firstPage)
	rows, err := s.db.pool.Query(ctx, "EXPLAIN "+text, args...)
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

// FirstPage returns how many documents the first page of Find has, and whether there
// may be others.
func (s *Store) FirstPage(ctx context.Context, collection string) (docs int, more bool, err error) {
	text, args := s.db.pageQuery(collection, store.Query{}, firstPage)
	p, err := s.db.page(ctx, text, args, firstPage)
	return len(p.docs), p.more, err
}

// DropTable removes the table of a collection, if it exists, as an administrator would.
func (s *Store) DropTable(ctx context.Context, collection string) error {
	s.db.fillfactorSet.Delete(collection)
	_, err := s.db.pool.Exec(ctx, "DROP TABLE IF EXISTS "+s.db.table(collection))
	return err
}
