package registry_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// nobody is the key of no member.
const nobody registry.MemberKey = "0123456789abcdef"

var remoteStart = time.Now().Add(-time.Minute)

// remote is the identity of a process of another host, the same one for each pid.
func remote(t testing.TB, pid int) gpid.GPID {
	t.Helper()
	g, err := gpid.New(netip.MustParseAddrPort("10.9.8.7:8080"), remoteStart, pid)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// idOf makes an id as a process with the given block would, now.
func idOf(t testing.TB, block string) objectid.ID {
	t.Helper()
	id, err := hex.DecodeString(fmt.Sprintf("%08x%s00000001", time.Now().Unix(), block))
	if err != nil {
		t.Fatal(err)
	}
	return objectid.ID(id)
}

func TestRemoteLife(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	g := remote(t, 7)
	p, err := r.RegisterRemote(t.Context(), g, &registry.RemoteOptions{Name: "php", Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Block) != 8 || p.Value != p.Block || !p.Remote || p.Executable != "" || p.Kernel != (gpid.Process{}) {
		t.Errorf("RegisterRemote = %+v", p)
	}
	// Another registry passes the heartbeats on: nothing is kept in memory.
	again := registry.New(s, nil)
	for i := range 3 {
		load := registry.Load{CPU: time.Duration(i) * time.Second, RSS: 100, Files: registry.Unmeasured, Threads: 4, Goroutines: registry.Unmeasured, Heap: registry.Unmeasured}
		if p, err = again.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: load}); err != nil || p.Last.Count != int64(i+2) || p.Last.Load != load {
			t.Fatalf("Heartbeat = %+v, %v", p.Last, err)
		}
	}
	if samples := all(t, r.History(t.Context(), p.Key(), time.Time{}, time.Time{})); len(samples) != 4 || samples[3].RSS != 100 {
		t.Errorf("History has %d samples, want 4: %+v", len(samples), samples)
	}
	trace, err := r.Trace(t.Context(), idOf(t, p.Block))
	if err != nil || trace.Verdict != registry.Known || trace.Processes[0].GPID != g || trace.Processes[0].State != registry.Alive {
		t.Errorf("Trace = %+v, %v", trace, err)
	}
	if p, err = r.End(t.Context(), p.Key(), "done", 0); err != nil || p.End == nil || p.End.Reason != "done" {
		t.Errorf("End = %+v, %v", p.End, err)
	}
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{}}); !errors.Is(err, registry.ErrEnded) {
		t.Errorf("Heartbeat after End: %v, want ErrEnded", err)
	}
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: nobody, Load: registry.Load{}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Heartbeat of nobody: %v, want ErrNotFound", err)
	}
}

func TestRemoteAdopted(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	sample := idOf(t, "a1b2c3d4")
	p, err := r.AdoptRemote(t.Context(), remote(t, 7), []objectid.ID{sample}, objectid.Modern, nil)
	if err != nil || p.Value != "a1b2c3d400" || p.EvidenceID != sample {
		t.Fatalf("AdoptRemote = %+v, %v", p, err)
	}
	var collision *registry.CollisionError
	if p, err = r.AdoptRemote(t.Context(), remote(t, 8), []objectid.ID{sample}, objectid.Modern, nil); !errors.As(err, &collision) || p.Value != "a1b2c3d400" {
		t.Errorf("a second process with the same value: %+v, %v, want a collision", p, err)
	}
	early := objectid.MinAt(time.Now().Add(-time.Hour))
	if _, err := r.AdoptRemote(t.Context(), remote(t, 9), []objectid.ID{early}, objectid.Modern, nil); !errors.Is(err, registry.ErrEvidence) {
		t.Errorf("sample older than the process: %v, want ErrEvidence", err)
	}
}

func TestMembersSendTheirOwnHeartbeats(t *testing.T) {
	s := newStore(t)
	m := join(t, s, options{})
	r := registry.New(s, nil)
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: m.Key(), Load: registry.Load{}}); !errors.Is(err, registry.ErrSelfManaged) {
		t.Errorf("Heartbeat = %v, want ErrSelfManaged", err)
	}
	if _, err := r.End(t.Context(), m.Key(), "gone", 0); !errors.Is(err, registry.ErrSelfManaged) {
		t.Errorf("End = %v, want ErrSelfManaged", err)
	}
}

// A process that was adopted while the store was away has the heartbeats of that time at
// their times, and an end that came after them, however late the store is told.
func TestAdoptionThatWasKept(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	began := time.Now().Truncate(time.Millisecond) // as it is stored
	id := objectid.MinAt(began.Add(-40 * time.Second))
	id[4], id[11] = 1, 1
	p, err := r.AdoptRemote(t.Context(), remote(t, 7), []objectid.ID{id}, objectid.Modern, &registry.RemoteOptions{Name: "php", Clock: began, Age: 35 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if p.Confirmed.Before(began) {
		t.Errorf("confirmed at %v, %v before the claim", p.Confirmed, began.Sub(p.Confirmed))
	}
	for _, age := range []time.Duration{30 * time.Second, 20 * time.Second, 10 * time.Second} {
		for _, err := range r.Heartbeats(t.Context(), []registry.RemoteHeartbeat{{Member: p.Key(), Load: registry.Load{RSS: int64(age)}, Age: age}}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if p, err = r.End(t.Context(), p.Key(), "killed", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if early := began.Sub(p.End.Time); early < 4*time.Second || early > 5*time.Second {
		t.Errorf("ended %v before the adoption, want 5s", early)
	}
	var ages []time.Duration
	for s, err := range r.History(t.Context(), p.Key(), time.Time{}, time.Time{}) {
		if err != nil {
			t.Fatal(err)
		}
		ages = append(ages, began.Sub(s.Time).Round(5*time.Second))
	}
	if want := []time.Duration{35 * time.Second, 30 * time.Second, 20 * time.Second, 10 * time.Second}; !slices.Equal(ages, want) {
		t.Errorf("samples %v ago, want %v", ages, want)
	}
}
