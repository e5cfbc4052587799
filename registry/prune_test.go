package registry_test

import (
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

func TestPrune(t *testing.T) {
	s := newStore(t)
	const day = 24 * time.Hour
	old := join(t, s, options{Addr: "127.0.0.1:1", Name: "old", Now: ago(400 * day)})
	oldID := old.Generator().New()
	finish(t, old)
	weeks := join(t, s, options{Addr: "127.0.0.1:2", Now: ago(14 * day)})
	weeksID := weeks.Generator().New()
	finish(t, weeks)
	alive := join(t, s, options{Addr: "127.0.0.1:3"})
	aliveID := alive.Generator().New()

	var clock moved
	r := registry.New(s, &registry.Options{Now: clock.Now})
	done, err := r.Prune(t.Context(), nil)
	if err != nil || done.Records != 1 || done.Samples != 4 {
		t.Errorf("Prune = %+v, %v, want 1 record and 4 samples", done, err)
	}
	if again, err := r.Prune(t.Context(), nil); err != nil || again != (registry.Pruned{}) {
		t.Errorf("second Prune = %+v, %v, want nothing", again, err)
	}
	if n, _ := s.Count(t.Context(), "oid.values", store.Range{}); n != 3 {
		t.Errorf("%d blocks are claimed, want all 3 for ever", n)
	}
	if tr := trace(t, r, oldID); tr.Verdict != registry.Known || tr.Processes[0].Name != "old" || tr.Processes[0].State != registry.Ended {
		t.Errorf("id of a pruned process: %+v, want known still", tr)
	}
	if tr := trace(t, r, later(oldID, 86400)); tr.Verdict != registry.Conflict {
		t.Errorf("id from a day after a pruned process: %s, want conflict", tr.Verdict)
	}
	if tr := trace(t, r, weeksID); tr.Verdict != registry.Known || tr.Before != nil {
		t.Errorf("id of a process without samples: %+v", tr)
	}
	if tr := trace(t, r, aliveID); tr.Verdict != registry.Known || tr.Before == nil {
		t.Errorf("id of a process that runs: %+v", tr)
	}
	// A process that runs is kept, whatever the clock says.
	clock.set(500 * day)
	if done, err := r.Prune(t.Context(), nil); err != nil || done.Records != 1 {
		t.Errorf("Prune in 500 days = %+v, %v, want the record of weeks ago", done, err)
	}
	if st := statusOf(t, r, alive.GPID()); st.State != registry.Alive {
		t.Errorf("the process that runs: %s", st.State)
	}
	if _, err := r.Prune(t.Context(), &registry.PruneOptions{Samples: -1}); err == nil {
		t.Error("negative time: no error")
	}
}

// A member whose record was pruned while it was cut off records itself anew.
func TestPrunedMemberComesBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := join(t, s, options{Interval: beat})
	key, err := store.StringKey(registry.RecordOf(m.Process()).Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "oid.processes", key); err != nil {
		t.Fatal(err)
	}
	id := m.Generator().New()
	eventually(t, "recorded again", func() bool {
		return trace(t, registry.New(s, nil), id).Verdict == registry.Known
	})
}

// A member that was pruned as dead comes back: what it is now counts, and not
// what was kept of it.
func TestPrunedAndAliveAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	away := func(p *registry.Process) { p.Kernel.Boot = "" } // nobody can tell that it runs
	m := join(t, elsewhere{s, away}, options{Interval: time.Second})
	var clock moved
	clock.set(400 * 24 * time.Hour)
	r := registry.New(s, &registry.Options{Now: clock.Now})
	eventually(t, "its record is pruned, unless a heartbeat comes between", func() bool {
		done, err := r.Prune(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return done.Records == 1
	})
	time.Sleep(5 * time.Second)
	id := m.Generator().New()
	eventually(t, "known again", func() bool { return trace(t, registry.New(s, nil), id).Verdict == registry.Known })
}

// A member deletes its own samples when they are older than it keeps them.
func TestMemberTrimsItsSamples(t *testing.T) {
	s := newStore(t)
	var clock moved
	m := join(t, s, options{Interval: beat, KeepSamples: time.Hour, Now: clock.Now})
	r := registry.New(s, nil)
	first := all(t, r.History(t.Context(), m.Key(), time.Time{}, time.Time{}))[0].Time
	clock.set(3 * time.Hour)
	eventually(t, "the first sample is gone", func() bool {
		return all(t, r.History(t.Context(), m.Key(), time.Time{}, time.Time{}))[0].Time.After(first)
	})
}

func TestPruneAdopted(t *testing.T) {
	s := newStore(t)
	m, err := adopt(t.Context(), s, objectid.New(), options{})
	if err != nil {
		t.Fatal(err)
	}
	finish(t, m)
	var clock moved
	clock.set(366 * 24 * time.Hour)
	r := registry.New(s, &registry.Options{Now: clock.Now})
	if done, err := r.Prune(t.Context(), nil); err != nil || done.Records != 1 {
		t.Errorf("Prune = %+v, %v", done, err)
	}
	tr := trace(t, r, m.Process().EvidenceID)
	if tr.Verdict != registry.Claimed || tr.Processes[0].GPID != m.GPID() {
		t.Fatalf("sample of a pruned adoption: %s by %v, want claimed by %v", tr.Verdict, tr.Processes, m.GPID())
	}
	if got, want := tr.Processes[0], m.Process(); got.EvidenceID != want.EvidenceID || got.Name != want.Name || want.Name == "" {
		t.Errorf("what remains of it: sample %v, name %q, want %v, %q", got.EvidenceID, got.Name, want.EvidenceID, want.Name)
	}
}

// What remains of a pruned process is a claim that is smaller than before.
func TestPrunedClaimsShrink(t *testing.T) {
	s := newStore(t)
	populate(t, s, 20)
	r := registry.New(s, nil)
	for i := range 5 {
		if _, err := r.AdoptRemote(t.Context(), remote(t, 900+i), []objectid.ID{sample(t)}, objectid.Modern, &registry.RemoteOptions{Name: "adopted"}); err != nil {
			t.Fatal(err)
		}
	}
	sizes := func() map[string]int {
		of := map[string]int{}
		for raw, err := range s.Find(t.Context(), "oid.values", store.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			of[raw.Lookup("_id").StringValue()] = len(raw)
		}
		return of
	}
	before := sizes()
	later := registry.New(s, &registry.Options{Now: func() time.Time { return time.Now().AddDate(2, 0, 0) }})
	if done, err := later.Prune(t.Context(), nil); err != nil || done.Records < 60 {
		t.Fatalf("Prune = %+v, %v", done, err)
	}
	after := sizes()
	sum := 0
	for key, size := range after {
		if size >= before[key] {
			t.Errorf("claim %s: %d bytes before, %d after", key, before[key], size)
		}
		sum += size
	}
	t.Logf("%d bytes a claim", sum/len(after))
	if len(after) != len(before) {
		t.Errorf("%d claims, had %d", len(after), len(before))
	}
	for _, c := range []string{"oid.processes", "oid.samples", "oid.living", "oid.ended", "oid.hosts"} {
		if n, err := s.Count(t.Context(), c, store.Range{}); err != nil || n != 0 {
			t.Errorf("%s: %d documents, %v, want none", c, n, err)
		}
	}
}
