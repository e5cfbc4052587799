package filelock

import (
	"context"
	"fmt"

	"github.com/oidkit/oid/lock"
)

// breakLease returns an error: only the kernel can free a lock, when the processes that hold it
// have ended. The error says how to end them.
func (l *Locker) breakLease(_ context.Context, name string, owner lock.Owner, _ string) error {
	f := l.files(name)
	s, err := f.settled()
	if err != nil {
		return err
	}
	if !s.Held || s.Owner != owner {
		return fmt.Errorf("%w: %q is free or has another holder", lock.ErrLost, name)
	}
	how := fmt.Sprintf("find them with: fuser -v '%s'", f.lock)
	if f.at != wholeFile {
		how = fmt.Sprintf("find those that have locked byte %d of %s with: lslocks", f.at, f.lock)
	}
	if alive, err := s.Holder.Process.Alive(); alive && err == nil {
		how = fmt.Sprintf("write: kill %d", s.Holder.Process.PID)
	} else if s.Holder.State == lock.StateAlive {
		how = fmt.Sprintf("write: kill -- -%d", s.Holder.Group)
	}
	return fmt.Errorf("a lock in files ends only with the processes that hold it; to end them, %s", how)
}
