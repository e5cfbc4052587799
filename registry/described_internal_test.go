package registry

import (
	"testing"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store/memstore"
)

// A Registry that has read a record before another one changed the description keeps the new one
// when it writes the record.
func TestOlderDescription(t *testing.T) {
	s := memstore.New()
	slow, r := New(s, nil), New(s, nil)
	p, err := r.RegisterRemote(t.Context(), gpid.MustParse("10.0.0.7:8080:1700000000000000:4711"), &RemoteOptions{Name: "python3"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := slow.member(t.Context(), p.Key())
	if err != nil {
		t.Fatal(err)
	}
	c := slow.openRecorder(m)
	if _, err := r.Heartbeat(t.Context(), &RemoteHeartbeat{Member: p.Key(), Description: &Description{Name: "shop"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.putRecord(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m, err = r.member(t.Context(), p.Key()); err != nil || m.record.Name != "shop" {
		t.Errorf("recorded as %s, %v, want shop", m.record.Name, err)
	}
}
