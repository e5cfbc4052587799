package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
)

// Backup copies the store, which may be in use by any number of processes, to a
// new file at path. The copy is a store as it was at one moment after the call, and
// smaller than the file if documents were deleted. It is there completely and on
// disk when Backup returns, or not at all; an interrupted call leaves the file
// path.partial behind, which the next one removes. The error wraps [fs.ErrExist] if
// there is a file at path.
func (s *Store) Backup(ctx context.Context, path string) error {
	if err := s.db.backup(ctx, path); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

func (s *database) backup(ctx context.Context, path string) error {
	if err := cmp.Or(s.life.Err(ctx), s.checkPlace(ctx)); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.copyTo(ctx, partial); err != nil {
		_ = os.Remove(partial) // or the next call does
		return s.explain(ctx, err)
	}
	return os.Rename(partial, path)
}

// copyTo writes the copy with a connection of its own: those for reading may write
// nothing, not even a copy.
func (s *database) copyTo(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", s.url(url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(10000)"}}))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return err
	}
	if err := s.checkFrozen(); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
