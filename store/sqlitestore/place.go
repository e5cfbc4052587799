package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/oidkit/oid/store"
)

// checkPlace returns an error that wraps [store.ErrMoved] if the file is not at its path
// any more and says where the latest commits are. SQLite itself does not notice.
func (s *Store) checkPlace(ctx context.Context) error {
	if s.file == nil { // it is being opened
		return nil
	}
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.moved(ctx)
	case err == nil && !os.SameFile(now, s.file):
		return fmt.Errorf("%w; what was stored in the old file last may be in %s-wal", store.ErrMoved, s.path)
	}
	return nil
}

// moved puts into the file, wherever it is now, the commits that are still in the
// file beside its old path, where a process that opens it under another name would not
// find them. SQLite does not, not even when it closes a file that was moved.
func (s *Store) moved(ctx context.Context) error {
	if s.write == nil {
		return store.ErrMoved
	}
	var busy, inLog, copied int
	err := s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &inLog, &copied)
	if err == nil && busy == 0 && inLog == copied {
		return fmt.Errorf("%w; if it was moved, it holds all that was stored", store.ErrMoved)
	}
	return fmt.Errorf("%w; what was stored last is in %s-wal: move that beside the file, with the file's new name and -wal", store.ErrMoved, s.path)
}
