package registry

import (
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// Both copies of a process write until when they agreed. Each knows its own heartbeats:
// the earlier time counts, whichever writes last. There is nothing to say of a process
// whose record is pruned.
func TestEarliestCopyCounts(t *testing.T) {
	s, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := New(s, nil)
	began := time.Now().UTC().Truncate(time.Second)
	for i, order := range [][2]time.Duration{{time.Second, 2 * time.Second}, {2 * time.Second, time.Second}, {time.Second, time.Second}} {
		g, err := gpid.New(netip.MustParseAddrPort("10.0.0.7:80"), began.Add(-time.Hour), 100+i)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.RegisterRemote(t.Context(), g, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := r.newRecorder(p)
		for _, agreed := range order {
			c.agreed = began.Add(agreed)
			if err := c.noteCopy(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		k := processKey(p.GPID, p.Block)
		doc, err := get[record](t.Context(), s, processes, k)
		if want := began.Add(time.Second); err != nil || !doc.Copied.Equal(want) {
			t.Errorf("agreed until %v: the record says %v, %v, want %v", order, doc.Copied, err, want)
		}
		if err := s.Delete(t.Context(), processes, key(k)); err != nil {
			t.Fatal(err)
		}
		if err := c.noteCopy(t.Context()); err != nil {
			t.Errorf("without a record: %v", err)
		}
		if n, err := s.Count(t.Context(), processes, store.Range{}); n != 0 || err != nil {
			t.Errorf("%d records, %v, after the only one was deleted", n, err)
		}
	}
}
