package registry_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

func remote(t testing.TB, pid int) gpid.GPID {
	t.Helper()
	g, err := gpid.New(netip.MustParseAddrPort("10.9.8.7:8080"), time.Now().Add(-time.Minute), pid)
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

func TestEnrolledLife(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	g := remote(t, 7)
	p, err := r.Enroll(t.Context(), g, objectid.ID{}, &registry.Options{Name: "php", Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Block) != 8 || p.Value != p.Block || !p.Enrolled || p.Executable != "" || p.Kernel != (gpid.Process{}) {
		t.Errorf("Enroll = %+v", p)
	}
	// Another registry passes the heartbeats on: nothing is kept in memory.
	again := registry.New(s, nil)
	for i := range 3 {
		load := registry.Load{CPU: time.Duration(i) * time.Second, RSS: 100, Files: registry.Unknown, Threads: 4, Goroutines: registry.Unknown, Heap: registry.Unknown}
		if p, err = again.Beat(t.Context(), g, load); err != nil || p.Last.Count != int64(i+2) || p.Last.Load != load {
			t.Fatalf("Beat = %+v, %v", p.Last, err)
		}
	}
	if samples := all(t, r.History(t.Context(), g, time.Time{}, time.Time{})); len(samples) != 4 || samples[3].RSS != 100 {
		t.Errorf("History has %d samples, want 4: %+v", len(samples), samples)
	}
	trace, err := r.Trace(t.Context(), idOf(t, p.Block))
	if err != nil || trace.Verdict != registry.Known || trace.Processes[0].GPID != g || trace.Processes[0].State != registry.Alive {
		t.Errorf("Trace = %+v, %v", trace, err)
	}
	if p, err = r.End(t.Context(), g, "done"); err != nil || p.End == nil || p.End.Reason != "done" {
		t.Errorf("End = %+v, %v", p.End, err)
	}
	if _, err := r.Beat(t.Context(), g, registry.Load{}); !errors.Is(err, registry.ErrLeft) {
		t.Errorf("Beat after End: %v, want ErrLeft", err)
	}
	if _, err := r.Beat(t.Context(), remote(t, 8), registry.Load{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Beat of nobody: %v, want ErrNotFound", err)
	}
}

func TestEnrolledWithSample(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	sample := idOf(t, "a1b2c3d4")
	p, err := r.Enroll(t.Context(), remote(t, 7), sample, nil)
	if err != nil || p.Value != "a1b2c3d400" || p.Sample != sample {
		t.Fatalf("Enroll = %+v, %v", p, err)
	}
	var collision *registry.CollisionError
	if p, err = r.Enroll(t.Context(), remote(t, 8), sample, nil); !errors.As(err, &collision) || p.Value != "a1b2c3d400" {
		t.Errorf("a second process with the same value: %+v, %v, want a collision", p, err)
	}
	early := objectid.At(time.Now().Add(-time.Hour))
	if _, err := r.Enroll(t.Context(), remote(t, 9), early, nil); !errors.Is(err, registry.ErrSample) {
		t.Errorf("sample older than the process: %v, want ErrSample", err)
	}
}

func TestNobodySpeaksForAMember(t *testing.T) {
	s := newStore(t)
	m := join(t, s, registry.Options{})
	r := registry.New(s, nil)
	if _, err := r.Beat(t.Context(), m.GPID(), registry.Load{}); !errors.Is(err, registry.ErrOwnWord) {
		t.Errorf("Beat = %v, want ErrOwnWord", err)
	}
	if _, err := r.End(t.Context(), m.GPID(), "gone"); !errors.Is(err, registry.ErrOwnWord) {
		t.Errorf("End = %v, want ErrOwnWord", err)
	}
}
