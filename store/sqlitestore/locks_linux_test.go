package sqlitestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/oidkit/oid/store/sqlitestore"
)

func init() { roles["locked"] = locked }

// locked prints whether another process has locks in a file.
func locked(args []string) error {
	f, err := os.OpenFile(args[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	found := syscall.Flock_t{Type: syscall.F_WRLCK}
	err = syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &found)
	fmt.Print(found.Type != syscall.F_UNLCK)
	return err
}

// TestLocksStay opens a file several times in this process. That must not release the locks of
// the first store: another process would then believe that it is the only one, and remove the
// log to which this process is still writing.
func TestLocksStay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	open(t, path, nil)
	for _, o := range []*sqlitestore.Options{nil, {ReadOnly: true}} {
		s := open(t, path, o)
		for _, what := range []string{"opened", "closed"} {
			if got, err := again(t.Context(), "locked", path).Output(); string(got) != "true" || err != nil {
				t.Errorf("%s again with %+v: locked: %s, %v", what, o, got, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
