package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
)

// After so many deletions the file gives back what it does not need, so many pages in
// one transaction: few, so that others get their turn. It keeps spare pages for
// documents to come, and a tenth of the file.
const (
	vacuumAfter = 5000
	vacuumPages = 1000
	sparePages  = 256
)

// incremental is the value of PRAGMA auto_vacuum under which this works. It can only be
// set before anything is in a file.
const incremental = 2

// deleted notes that n documents were deleted, and makes the file smaller when that
// is due. What fails of that is tried again after the next deletions.
func (s *Store) deleted(ctx context.Context, n int64) {
	if s.deletions.Add(n) < vacuumAfter {
		return
	}
	s.deletions.Store(0)
	for more := true; more; {
		if s.update(ctx, func(tx *sql.Tx) (err error) {
			more, err = giveBack(ctx, tx)
			return err
		}) != nil {
			return
		}
	}
}

// giveBack moves pages from the end of the file into free ones and cuts the file. It
// reports whether there are more to give back. A file that an older version has
// created keeps its size.
func giveBack(ctx context.Context, tx *sql.Tx) (more bool, err error) {
	var pages, free, mode int64
	err = tx.QueryRowContext(ctx, "SELECT page_count, freelist_count, auto_vacuum FROM pragma_page_count, pragma_freelist_count, pragma_auto_vacuum").Scan(&pages, &free, &mode)
	surplus := free - max(sparePages, pages/10)
	if err != nil || mode != incremental || surplus <= 0 {
		return false, err
	}
	// Each step of the statement moves one page.
	rows, err := tx.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", min(surplus, vacuumPages)))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return surplus > vacuumPages, rows.Err()
}
