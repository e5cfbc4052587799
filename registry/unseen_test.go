package registry_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// A process whose start is not known had started when it created its first known id. Whether
// it ran earlier is not known either: traces of earlier ids say so, and are no conflicts, also
// after its record was pruned.
func TestStartUnknown(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	seen := time.Now()
	g, err := gpid.New(netip.MustParseAddrPort("10.9.8.7:0"), seen, 4711)
	if err != nil {
		t.Fatal(err)
	}
	now := sample(t)
	o := &registry.RemoteOptions{Name: "short", StartUnknown: true, Clock: seen, Interval: time.Second}
	if _, err := r.AdoptRemote(t.Context(), g, []objectid.ID{later(now, -70)}, objectid.Modern, o); !errors.Is(err, registry.ErrEvidence) || !strings.Contains(err.Error(), "before the process was first seen at") {
		t.Errorf("an id from 70 seconds before the process was seen: %v", err)
	}
	id := later(now, -20)
	p, err := r.AdoptRemote(t.Context(), g, []objectid.ID{id}, objectid.Modern, o)
	if err != nil || !p.From.Equal(id.Time()) || !p.StartUnknown {
		t.Fatalf("an id from 20 seconds before the process was seen: from %v, %v", p.From, err)
	}
	other, tooOld := later(sample(t), -50), later(sample(t), -70)
	if _, err := r.AddEvidence(t.Context(), p.Key(), []objectid.ID{other}, objectid.Modern); err != nil {
		t.Error(err)
	}
	if _, err := r.AddEvidence(t.Context(), p.Key(), []objectid.ID{tooOld}, objectid.Modern); !errors.Is(err, registry.ErrEvidence) {
		t.Errorf("an id from 70 seconds before the process was seen, after one from 50: %v", err)
	}
	if _, err := r.End(t.Context(), p.Key(), "ended unseen", 0); err != nil {
		t.Fatal(err)
	}
	check := func(r *registry.Registry) {
		t.Helper()
		for seconds, want := range map[int]string{
			0:   "claimed: when the process started is not known",
			-30: "claimed: when the process started is not known; the process may have started before its first known id",
			120: "conflict: after the process had ended",
		} {
			verdict, reason, _ := strings.Cut(want, ": ")
			if tr := trace(t, r, later(id, seconds)); string(tr.Verdict) != verdict || !strings.Contains(tr.Reason, reason) {
				t.Errorf("%d seconds after its id: %s: %s, want %s", seconds, tr.Verdict, tr.Reason, want)
			}
		}
	}
	check(r)
	// A process that certainly ran then has the better claim.
	before, err := gpid.New(netip.MustParseAddrPort("10.9.8.7:0"), seen.Add(-time.Hour), 4711)
	if err != nil {
		t.Fatal(err)
	}
	q, err := r.AdoptRemote(t.Context(), before, []objectid.ID{later(id, -30)}, objectid.Modern, &registry.RemoteOptions{Name: "before", Clock: seen, Interval: time.Second})
	if err == nil || errors.Is(err, registry.ErrCollision) {
		_, err = r.End(t.Context(), q.Key(), "ended", 30*time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	if tr := trace(t, r, later(id, -30)); tr.Verdict != registry.Claimed || tr.Processes[0].Name != "before" {
		t.Errorf("an id that another process with the value has created: %s: %s", tr.Verdict, tr.Reason)
	}

	s = newStore(t)
	r = registry.New(s, nil)
	if p, err = r.AdoptRemote(t.Context(), g, []objectid.ID{id}, objectid.Modern, o); err == nil {
		_, err = r.End(t.Context(), p.Key(), "ended unseen", 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	var clock moved
	clock.set(400 * 24 * time.Hour)
	r = registry.New(s, &registry.Options{Now: clock.Now})
	if done, err := r.Prune(t.Context(), nil); err != nil || done.Records != 1 {
		t.Fatalf("Prune = %+v, %v", done, err)
	}
	check(r)
}
