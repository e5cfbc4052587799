package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"
)

// When many documents were deleted, the file is made smaller ("vacuumed").
const (
	vacuumAfter = 5000 // deletions
	vacuumPages = 1000 // pages of one transaction; others can write between two of them
	sparePages  = 256  // minimum number of free pages that remain for new documents
)

// vacuumDelay is the time between reaching vacuumAfter and vacuuming. It lets a series of
// deletions finish first: a page that is moved between two of them is often freed by the next.
const vacuumDelay = 30 * time.Second

// vacuumWait is the maximum time that a vacuuming transaction waits for other processes.
const vacuumWait = 10 * time.Second

// incremental is the value of PRAGMA auto_vacuum that makes incremental_vacuum possible. It can
// only be set while a file is empty.
const incremental = 2

// space decides when the file is made smaller.
type space struct {
	delay time.Duration // vacuumDelay, except in tests

	mu        sync.Mutex
	deletions int64       // since the last vacuum
	timer     *time.Timer // for the next vacuum; nil if none is due

	vacuuming sync.Mutex // held during a vacuum
}

// deleted counts n deleted documents. When there are enough, it starts the timer for a vacuum.
func (s *database) deleted(n int64) {
	s.space.mu.Lock()
	defer s.space.mu.Unlock()
	s.space.deletions += n
	if s.space.deletions >= vacuumAfter && s.space.timer == nil {
		s.space.timer = time.AfterFunc(s.space.delay, s.vacuumIfDue)
	}
}

// vacuumIfDue makes the file smaller if that is due, and returns when it is done or has
// failed. After a failure, the next deletions start another vacuum.
func (s *database) vacuumIfDue() {
	s.space.vacuuming.Lock()
	defer s.space.vacuuming.Unlock()
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

// vacuum moves pages from the end of the file to free pages and truncates the file, in
// steps of vacuumPages. more reports whether another step is needed. A file without incremental
// auto_vacuum keeps its size.
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
