package registry

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store"
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

// A process whose heartbeat comes while it is moved to the ended stays among the living,
// and nothing says that it has ended.
func TestHeartbeatDuringItsMove(t *testing.T) {
	for name, finish := range map[string]func(r *Registry, raw bson.Raw, l *living, k string) error{
		"alone": func(r *Registry, raw bson.Raw, l *living, k string) error { return r.finish(t.Context(), raw, l, k) },
		"among many": func(r *Registry, raw bson.Raw, l *living, k string) error {
			stored, err := r.store.Get(t.Context(), processes, key(processKey(l.gpid, k[:8])))
			if err != nil {
				return err
			}
			doc, err := decode[record](stored, processes)
			if err != nil {
				return err
			}
			beaten, err := decode[livingDoc](raw, livingRecords)
			if err != nil {
				return err
			}
			l.over(&doc.Process)
			return r.finishAll(t.Context(), []silent{{raw: raw, doc: &beaten, l: l, stored: stored, record: &doc}})
		},
	} {
		r, p := registered(t)
		k := livingKey(p.Block, p.Member)
		raw, l, err := r.living(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(r.store, nil).Heartbeat(t.Context(), p.GPID, Load{}, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := finish(r, raw, l, k); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		doc, err := get[record](t.Context(), r.store, processes, processKey(p.GPID, p.Block))
		if err != nil || doc.Final {
			t.Errorf("%s: the record is final: %v, %v", name, doc.Final, err)
		}
		for collection, want := range map[string]int64{ended: 0, livingRecords: 1} {
			if n, err := r.store.Count(t.Context(), collection, store.Range{}); n != want || err != nil {
				t.Errorf("%s: %d documents of %s, %v, want %d", name, n, collection, err, want)
			}
		}
	}
}

// refusing is a store that refuses the second of all swaps.
type refusing struct {
	store.Store
	err error
}

func (r refusing) SwapMany(_ context.Context, _ string, swaps []store.Swap) ([]bson.Raw, error) {
	return make([]bson.Raw, len(swaps)), &store.RefusedError{Refused: []store.Refusal{{Index: 1, Err: r.err}}}
}

// What others have written or deleted meanwhile is left as it is; another reason to refuse
// a swap is an error.
func TestSwapsThatAreRefused(t *testing.T) {
	full := errors.New("the disk is full")
	for err, want := range map[error]int{store.ErrConflict: 2, store.ErrNotFound: 2, full: 0} {
		n, got := swapAll(t.Context(), refusing{err: err}, processes, make([]store.Swap, 3))
		if n != want || (got != nil) != (want == 0) || got != nil && !errors.Is(got, full) {
			t.Errorf("%v: %d swaps, %v, want %d", err, n, got, want)
		}
	}
}
