package registry_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// A file that version 1 of the format wrote, with a server that was killed, a process
// with eight heartbeats, one that ended, one that was adopted and one that was pruned,
// answers everything as before; its processes go on, end and are pruned.
func TestFileOfVersion1(t *testing.T) {
	old, err := os.ReadFile("testdata/version1.db")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "registry.db")
	if err := os.WriteFile(file, old, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, file)
	at := time.Date(2026, 11, 21, 18, 53, 3, 0, time.UTC)
	var clock moved
	clock.set(time.Until(at))
	// The server ran in another boot of a host; whether it is this one must not matter.
	r := registry.New(s, &registry.Options{Now: clock.Now, OneHost: true})
	const beats, ends, adopted = "10.0.0.2:80:1795287182277443:12", "10.0.0.3:80:1795287182516892:13", "10.0.0.4:80:1795219200000000:14"
	id := func(hex string) objectid.ID {
		id, err := objectid.Parse(hex)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	ids := map[string]objectid.ID{
		"10.0.0.1:80:1795287179875584:11": id("6b01e88cb406ad9200000001"), // was pruned
		beats:                             id("6b01e88e04a77e2900000001"),
		ends:                              id("6b01e88ed36eceed00000001"),
		adopted:                           id("6b01e88e2bc7a56c9c81709e"),
	}
	check := func(when string) {
		t.Helper()
		for maker, id := range ids {
			want := registry.Known
			if maker == adopted {
				want = registry.Claimed
			}
			if tr := trace(t, r, id); tr.Verdict != want || tr.Processes[0].GPID.String() != maker {
				t.Errorf("%s, an id of %s: %s (%s) %v", when, maker, tr.Verdict, tr.Reason, tr.Processes)
			}
		}
	}
	check("before the upgrade")
	lists := func() {
		t.Helper()
		for states, want := range map[[2]registry.State]int{
			{registry.Alive, registry.Late}: 2, {registry.Dead, registry.Ended}: 2, {}: 4,
		} {
			q := registry.Query{}
			if states[0] != "" {
				q.States = states[:]
			}
			if page, err := r.Page(t.Context(), q); err != nil || len(page.Processes) != want || page.Next != "" {
				t.Errorf("%v: %d processes, %q, %v, want %d", states, len(page.Processes), page.Next, err, want)
			}
		}
	}
	lists()
	clock.set(time.Until(at) + time.Minute)
	if done, err := r.Sweep(t.Context()); err != nil || done.Living != 2 || done.Ended != 1 {
		t.Errorf("Sweep = %+v, %v, want the server that was killed moved", done, err)
	}
	lists()
	check("after it")
	for i := range 20 {
		if _, err := r.Heartbeat(t.Context(), keyOf(t, r, gpid.MustParse(beats)), registry.Load{CPU: time.Duration(10+i) * time.Second}, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	h := all(t, r.History(t.Context(), keyOf(t, r, gpid.MustParse(beats)), time.Time{}, time.Time{}))
	if len(h) != 29 || h[8].CPU != 8*time.Second || h[28].CPU != 29*time.Second {
		t.Errorf("History: %d samples, want the 9 of the file and 20", len(h))
	}
	for _, g := range []string{beats, adopted} {
		if _, err := r.End(t.Context(), keyOf(t, r, gpid.MustParse(g)), "done"); err != nil {
			t.Error(err)
		}
	}
	check("after the end")
	clock.set(time.Until(at) + 400*24*time.Hour)
	if done, err := r.Prune(t.Context(), nil); err != nil || done.Records != 4 || done.Samples < 30 {
		t.Errorf("Prune = %+v, %v, want all 4 records", done, err)
	}
	check("after Prune")
	for c, want := range map[string]int64{"oid.processes": 0, "oid.samples": 0, "oid.living": 0, "oid.ended": 0, "oid.values": 6} {
		if n, err := s.Count(t.Context(), c, store.Range{}); err != nil || n != want {
			t.Errorf("%s holds %d documents, %v, want %d", c, n, err, want)
		}
	}
}
