package registry_test

import (
	"testing"
	"time"

	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// Processes that have crashed or ended are no longer among the living after a sweep;
// the silent ones of other hosts only when it is known that they do not come back.
func TestSweep(t *testing.T) {
	file := t.TempDir() + "/registry.db"
	s := openStore(t, file)
	p := start(t, file, "", time.Second, false)
	p.join()
	p.kill()
	const n = 5
	now := populate(t, s, n)
	r := registry.New(s, &registry.Options{Now: now.Now})
	living := func() int64 {
		t.Helper()
		count, err := s.Count(t.Context(), "oid.living", store.Range{})
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	now.set(5 * time.Second)
	if done, err := r.Sweep(t.Context()); err != nil || done != 1 || living() != 2*n {
		t.Errorf("Sweep = %+v, %v, %d are living: want the killed one moved", done, err, living())
	}
	if st := statusOf(t, r, p.gpid); fate(st) != "dead" || st.Last.Count == 0 {
		t.Errorf("the killed one: %s, %+v", st.State, st.Last)
	}
	if got := pages(t, r, registry.Query{States: []registry.State{registry.Dead}, Limit: 3}); len(got) != 1 {
		t.Errorf("dead: %v, want the killed one", got)
	}
	now.set(23 * time.Hour)
	if done, err := r.Sweep(t.Context()); err != nil || done != 0 {
		t.Errorf("after 23 hours: %+v, %v, want none moved", done, err)
	}
	now.set(25 * time.Hour)
	if done, err := r.Sweep(t.Context()); err != nil || done != 2*n || living() != 0 {
		t.Errorf("after 25 hours: %+v, %v, want all moved", done, err)
	}
}
