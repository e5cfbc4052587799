package sqlitestore

import (
	"context"
	"errors"
	"os"
)

var errThawed = errors.New("another process has begun to write the file; open the store again")

// openFrozen opens a file in a folder that is not writable, so that the memory that
// processes share cannot be created there. It returns cause if another process has that
// memory, or has left commits beside the file.
func (s *Store) openFrozen(ctx context.Context, cause error) (err error) {
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
func (s *Store) checkFrozen() error {
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
