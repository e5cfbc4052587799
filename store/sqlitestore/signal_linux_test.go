package sqlitestore_test

import (
	"path/filepath"
	"testing"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/storetest"
)

func TestSignals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	storetest.Signals(t, func() store.Store { return open(t, path, nil) }, true)
}
