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
	"path/filepath"
)

// Backup copies the store to a new file at path. Any number of processes may use the store
// meanwhile. The copy is itself a store: a snapshot of this one at a moment during the call. It
// does not contain the free space that deleted documents have left.
//
// When Backup returns nil, the copy is complete and on disk. After an error there is no copy at
// path. If the process ends during Backup, the file path.partial remains; the next call with the
// same path removes it. If a file exists at path, the error wraps [fs.ErrExist].
func (s *Store) Backup(ctx context.Context, path string) error {
	if err := s.db.backup(ctx, path); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

func (s *database) backup(ctx context.Context, path string) error {
	if err := cmp.Or(s.life.Err(ctx), s.checkMoved(ctx)); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err // SQLite would not say which file it cannot open
	}
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.copyTo(ctx, partial); err != nil {
		_ = os.Remove(partial) // if this fails, the next call removes it
		return s.explain(ctx, err)
	}
	return os.Rename(partial, path)
}

// copyTo writes the copy. It opens a connection, because the existing connections for reading may
// not write any file.
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
