package registry

import (
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store/sqlitestore"
)

// registered returns a registry with a process that somebody else sends heartbeats for.
func registered(t *testing.T) (*Registry, Process) {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	g, err := gpid.New(netip.MustParseAddrPort("10.0.0.7:80"), time.Now().Add(-time.Hour), 4711)
	if err != nil {
		t.Fatal(err)
	}
	r := New(s, nil)
	p, err := r.RegisterRemote(t.Context(), g, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}
