package registry

import (
	"testing"

	"github.com/oidkit/oid/store"
)

// A process whose heartbeat comes while it is moved to the ended stays among the living,
// and nothing says that it has ended.
func TestHeartbeatDuringItsMove(t *testing.T) {
	for _, first := range []bool{false, true} { // the heartbeat comes before the record is read
		r, p := registered(t)
		k := livingKey(p.Block, p.Member)
		l, err := getDoc[living](t.Context(), r.store, livingRecords, k)
		if err != nil {
			t.Fatal(err)
		}
		all := []storedProcess{{living: &l}}
		read := func() {
			if err := r.readRecords(t.Context(), all); err != nil {
				t.Fatal(err)
			}
		}
		if !first {
			read()
		}
		if _, err := New(r.store, nil).Heartbeat(t.Context(), &RemoteHeartbeat{Member: p.Key(), Load: Load{}}); err != nil {
			t.Fatal(err)
		}
		if first {
			read()
		}
		if err := r.moveToEnded(t.Context(), all); err != nil {
			t.Errorf("%t: %v", first, err)
		}
		doc, err := getDoc[record](t.Context(), r.store, processRecords, processKey(p.GPID, p.Block))
		if err != nil || doc.Final {
			t.Errorf("%t: the record is final: %v, %v", first, doc.Final, err)
		}
		for collection, want := range map[string]int64{endedRecords: 0, livingRecords: 1} {
			if n, err := r.store.Count(t.Context(), collection, store.Range{}); n != want || err != nil {
				t.Errorf("%t: %d documents of %s, %v, want %d", first, n, collection, err, want)
			}
		}
	}
}
