package sqlitestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/storetest"
)

func TestSignals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	storetest.Signals(t, func() store.Store { return open(t, path, nil) }, true)
}

// Close ends the inotify watch.
func TestCloseEndsTheWatch(t *testing.T) {
	watches := func() (n int) {
		files, _ := filepath.Glob("/proc/self/fd/*")
		for _, file := range files {
			if to, _ := os.Readlink(file); strings.Contains(to, "inotify") {
				n++
			}
		}
		return n
	}
	before := watches()
	s := open(t, filepath.Join(t.TempDir(), "s.db"), nil)
	_, _, stop := store.SignalerOf(s).Listen("topic")
	if watches() != before+1 {
		t.Errorf("%d watches after Listen, %d before", watches(), before)
	}
	stop()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	testenv.Await(t, "end of the watch", func() error {
		if watches() != before {
			return errors.New("it goes on")
		}
		return nil
	})
}
