package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/oidkit/oid/store"
)

// checkMoved returns an error that wraps [store.ErrMoved] if the file is not at its path any
// more. The error says where the latest writes are. SQLite itself does not notice that a file was
// moved.
func (s *database) checkMoved(ctx context.Context) error {
	if s.file == nil { // the store is being opened
		return nil
	}
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.moved(ctx)
	case err == nil && !os.SameFile(now, s.file):
		return fmt.Errorf("%w; the last writes to the old file may be in %s-wal", store.ErrMoved, s.path)
	}
	return nil
}

// moved copies the latest writes from the WAL, which is still at the old path, into the moved
// file, wherever that is now. A process that opens the file under its new name would not find
// them otherwise: SQLite does not copy them, even when it closes the moved file. The error wraps
// [store.ErrMoved] and says whether copying succeeded.
func (s *database) moved(ctx context.Context) error {
	if s.write == nil {
		return store.ErrMoved
	}
	var busy, inLog, copied int
	err := s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &inLog, &copied)
	if err == nil && busy == 0 && inLog == copied {
		return fmt.Errorf("%w; if the file was moved, it is complete", store.ErrMoved)
	}
	return fmt.Errorf("%w; the last writes are in %s-wal: move that next to the moved file, and rename it to that file's name followed by -wal", store.ErrMoved, s.path)
}

var errThawed = errors.New("another process has begun to write the file; open the store again")

// openFrozen opens a file whose folder is not writable, so that SQLite cannot create the
// shared memory (PATH-shm) there. It reads the file as one that does not change. It returns cause
// if another process has created the shared memory or has left writes in PATH-wal.
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

// checkFrozen returns errThawed if the file was opened by openFrozen and another process may
// have written to it since. What was read is then outdated, and may even be a mix of old and
// new pages. A process that writes creates PATH-shm before it writes, and has changed the
// file when it removes PATH-shm.
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
