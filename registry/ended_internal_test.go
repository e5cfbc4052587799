package registry

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// A process whose heartbeat comes while it is moved to the ended stays among the living,
// and nothing says that it has ended.
func TestHeartbeatDuringItsMove(t *testing.T) {
	for name, finish := range map[string]func(r *Registry, raw bson.Raw, l *living, k string) error{
		"alone": func(r *Registry, raw bson.Raw, l *living, k string) error { return r.finish(t.Context(), raw, l) },
		"among many": func(r *Registry, raw bson.Raw, l *living, k string) error {
			stored, err := r.store.Get(t.Context(), processes, key(processKey(l.gpid, k[:8])))
			if err != nil {
				return err
			}
			doc, err := decode[record](stored, processes)
			if err != nil {
				return err
			}
			l.over(&doc.Process)
			return r.finishAll(t.Context(), []silent{{raw: raw, l: l, stored: stored, record: &doc}})
		},
	} {
		r, p := registered(t)
		k := livingKey(p.Block, p.Member)
		raw, l, err := r.living(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(r.store, nil).Heartbeat(t.Context(), p.Key(), Load{}, time.Time{}); err != nil {
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
