package registry_test

import (
	"errors"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// A process that was silent until it was pruned registers again with its key. It is the
// same member, with the ids that it created before. Another one has another key.
func TestKeyOfAPrunedProcess(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(-500 * 24 * time.Hour)
	r := registry.New(newStore(t), &registry.Options{Now: func() time.Time { return now }})
	const key = "0123456789abcdef"
	g := remote(t, 7)
	p, err := r.RegisterRemote(t.Context(), g, &registry.RemoteOptions{Key: key, Clock: now.Add(-time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	own := func(d time.Duration) objectid.ID {
		id := objectid.MinAt(now.Add(d))
		block := idOf(t, p.Block)
		copy(id[4:], block[4:])
		return id
	}
	before := own(-time.Hour) // by its clock
	now = now.Add(400 * 24 * time.Hour)
	if done, err := r.Prune(t.Context(), nil); err != nil || done.Records != 1 {
		t.Fatal(done, err)
	}
	if _, err := r.RegisterRemote(t.Context(), remote(t, 8), &registry.RemoteOptions{Key: key}); !errors.Is(err, registry.ErrKey) {
		t.Errorf("another process with the key: %v", err)
	}
	again, err := r.RegisterRemote(t.Context(), g, &registry.RemoteOptions{Key: key, Clock: now})
	if err != nil || again.Key() != p.Key() {
		t.Fatalf("%v, want %v; %v", again.Key(), p.Key(), err)
	}
	for what, id := range map[string]objectid.ID{"before": before, "now": own(0)} {
		if tr := trace(t, r, id); tr.Verdict != registry.Known {
			t.Errorf("an id from %s: %s (%s)", what, tr.Verdict, tr.Reason)
		}
	}
}
