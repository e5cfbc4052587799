package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"sync"
)

// query is a query for reading.
type query struct {
	text string // comes again: what changes belongs in args
	args []any

	// long is set if it may take long, so that it must end with its context. For
	// others that costs more than it is worth: to watch a context takes as long as
	// to find a document.
	long bool
}

// maxReaders is how many queries run at once, so that many who ask at once take
// turns instead of taking memory, and how many connections are kept for them, with
// their prepared statements: opening one takes longer than most queries.
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
	rows, err := s.statements.query(ctx, s.read, q)
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

// row runs q and scans its first row. It reports whether there was one.
func (s *Store) row(ctx context.Context, q query, into ...any) (found bool, err error) {
	err = s.rows(ctx, q, func(rows *sql.Rows) (bool, error) {
		found = true
		return false, rows.Scan(into...)
	})
	return found, err
}

// maxStatements is how many statements for reading are kept prepared. There are a
// few for each collection.
const maxStatements = 128

// statements are those for reading that have been prepared. SQLite takes longer to
// prepare a statement that finds one document than to run it.
type statements struct {
	mu   sync.RWMutex
	kept map[string]*sql.Stmt
}

func (t *statements) query(ctx context.Context, db *sql.DB, q query) (*sql.Rows, error) {
	t.mu.RLock()
	statement, full := t.kept[q.text], len(t.kept) >= maxStatements
	t.mu.RUnlock()
	if statement == nil && full {
		return db.QueryContext(ctx, q.text, q.args...)
	}
	if statement == nil {
		var err error
		if statement, err = t.prepare(ctx, db, q.text); err != nil {
			return nil, err
		}
	}
	return statement.QueryContext(ctx, q.args...)
}

// prepare prepares a statement and keeps it until db is closed.
func (t *statements) prepare(ctx context.Context, db *sql.DB, text string) (*sql.Stmt, error) {
	statement, err := db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if other := t.kept[text]; other != nil { // two prepared it at once
		return other, statement.Close()
	}
	if t.kept == nil {
		t.kept = map[string]*sql.Stmt{}
	}
	t.kept[text] = statement
	return statement, nil
}
