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
func (s *database) checkPlace(ctx context.Context) error {
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
func (s *database) moved(ctx context.Context) error {
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

var errThawed = errors.New("another process has begun to write the file; open the store again")

// openFrozen opens a file in a folder that is not writable, so that the memory that
// processes share cannot be created there. It returns cause if another process has that
// memory, or has left commits beside the file.
func (s *database) openFrozen(ctx context.Context, cause error) (err error) {
	if s.file, err = os.Stat(s.path); err != nil {
		return err
	}
	if s.frozen = true; s.checkFrozen() != nil {
		s.frozen = false
		return cause
	}
	if err := s.read.Close(); err != nil {
		return err
	}
	if err := s.openReaders(s.dsn("ro")); err != nil {
		return err
	}
	_, err = isOurs(ctx, s.read)
	return err
}

// checkFrozen returns errThawed if the file was opened by openFrozen and another process
// may have written to it since: what was read then may be a mix of old and new, and is not
// the latest. Such a process first creates the memory to share, and changes the file when
// it removes that.
func (s *database) checkFrozen() error {
	if !s.frozen {
		return nil
	}
	log, err := os.Stat(s.path + "-wal")
	logged := err == nil && log.Size() > 0
	_, err = os.Stat(s.path + "-shm")
	if shared := err == nil; shared || logged {
		return errThawed
	}
	now, err := os.Stat(s.path)
	if err == nil && (!os.SameFile(now, s.file) || now.Size() != s.file.Size() || !now.ModTime().Equal(s.file.ModTime())) {
		err = errThawed
	}
	return err
}
