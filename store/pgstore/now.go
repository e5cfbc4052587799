package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Now returns the time of the server, see [store.Now].
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.do(ctx, func(c *pgx.Conn, _ bool) error {
		return c.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now)
	})
	return now, err
}
