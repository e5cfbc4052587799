package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"
)

// After so many deletions the file gives back what it does not need, so many pages in
// one transaction: few, so that others get their turn. It keeps spare pages for
// documents to come, and a tenth of the file.
const (
	vacuumAfter = 5000
	vacuumPages = 1000
	sparePages  = 256
)

// vacuumDelay is how long after so many deletions space is given back, so once after many
// calls that delete: a page that is moved between two of them is often freed by the
// next.
const vacuumDelay = 30 * time.Second

// vacuumWait bounds how long a transaction that gives space back waits for other
// processes.
const vacuumWait = 10 * time.Second

// incremental is the value of PRAGMA auto_vacuum under which this works. It can only be
// set before anything is in a file.
const incremental = 2

// space gives back what deletions have freed.
type space struct {
	delay time.Duration // vacuumDelay, tests have another

	mu        sync.Mutex
	deletions int64       // since space was given back
	timer     *time.Timer // for the next time, nil if there have been few deletions

	giving sync.Mutex // held while space is given back
}

// deleted notes that n documents were deleted, and has the file made smaller when that
// is due.
func (s *database) deleted(n int64) {
	s.space.mu.Lock()
	defer s.space.mu.Unlock()
	s.space.deletions += n
	if s.space.deletions >= vacuumAfter && s.space.timer == nil {
		s.space.timer = time.AfterFunc(s.space.delay, s.giveBack)
	}
}

// giveBack makes the file smaller if that is due, and waits while it is made so. What
// fails of that is tried again after the next deletions.
func (s *database) giveBack() {
	s.space.giving.Lock()
	defer s.space.giving.Unlock()
	s.space.mu.Lock()
	due := s.space.timer != nil
	if due {
		s.space.timer.Stop()
		s.space.timer, s.space.deletions = nil, 0
	}
	s.space.mu.Unlock()
	for due {
		ctx, cancel := context.WithTimeout(context.Background(), vacuumWait)
		err := s.update(ctx, func(tx *sql.Tx) (err error) {
			due, err = vacuum(ctx, tx)
			return err
		})
		cancel()
		if err != nil {
			return
		}
	}
}

// vacuum moves pages from the end of the file into free ones and cuts the file. It
// reports whether there are more to give back. A file that an older version has
// created keeps its size.
func vacuum(ctx context.Context, tx *sql.Tx) (more bool, err error) {
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
