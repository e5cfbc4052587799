package registry_test

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// onHost registers a remote process with a host and a pid.
func onHost(t *testing.T, r *registry.Registry, host string, pid int) gpid.GPID {
	t.Helper()
	addr := netip.AddrPortFrom(netip.MustParseAddr("10.0.0.7"), uint16(pid))
	g, err := gpid.New(addr, time.Now().Add(-time.Minute), pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.RegisterRemote(t.Context(), g, &registry.RemoteOptions{Name: "db", Host: host, Clock: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return g
}

// bson-ruby writes the MD5 of the host's name and the pid. An id that nobody adopted
// is traced by these to the recorded process that had them at that time.
func TestTraceByHostAndPID(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	g := onHost(t, r, "db1", 4711)
	id := classicID("db1", 4711)
	want := func(what string, tr registry.Trace, verdict registry.Verdict, reason string) {
		t.Helper()
		if tr.Verdict != verdict || tr.Certain || !strings.Contains(tr.Reason, reason) {
			t.Errorf("%s: %s, certain %v (%s), want %s: %s", what, tr.Verdict, tr.Certain, tr.Reason, verdict, reason)
		}
		if want := (registry.Classic{Machine: tr.ID.String()[8:14], Host: "db1", PID: 4711}); tr.Classic == nil || *tr.Classic != want {
			t.Errorf("%s: %+v, want %+v", what, tr.Classic, want)
		}
	}
	tr := trace(t, r, id)
	want("an id of the process", tr, registry.Claimed, "machine "+id.String()[8:14]+" is host db1, where process 4711 ran at that time")
	if len(tr.Processes) != 1 || tr.Processes[0].GPID != g || tr.Before == nil {
		t.Errorf("processes %+v, sample %v, want %v", tr.Processes, tr.Before, g)
	}
	want("an id from before its start", trace(t, r, later(id, -3600)), registry.Unknown, "before the process had its value")
	want("an id from the future", trace(t, r, later(id, 3600)), registry.Unknown, "after the last heartbeat of a process that is alive")
	if _, err := r.End(t.Context(), keyOf(t, r, g), "done", 0); err != nil {
		t.Fatal(err)
	}
	want("an id of its life after its end", trace(t, r, id), registry.Claimed, "process 4711 ran at that time")
	want("an id from after its end", trace(t, r, later(id, 60)), registry.Unknown, "after the process had ended")

	// The layout keeps 16 bits of the pid.
	onHost(t, r, "db1", 4711+65536)
	if tr := trace(t, r, id); tr.Verdict != registry.Collision || len(tr.Processes) != 2 {
		t.Errorf("two processes of the host: %s (%s), want a collision", tr.Verdict, tr.Reason)
	}
	// A host that is recorded, and another pid of it.
	if tr := trace(t, r, classicID("db1", 4712)); tr.Verdict != registry.Unknown || tr.Classic == nil || tr.Classic.Host != "db1" ||
		!strings.Contains(tr.Reason, "is host db1, where no process with pid 4712 is recorded") {
		t.Errorf("another pid of the host: %s (%s) %+v", tr.Verdict, tr.Reason, tr.Classic)
	}
	if tr := trace(t, r, classicID("db2", 4711)); tr.Verdict != registry.Unknown || tr.Classic != nil {
		t.Errorf("another host: %s (%s) %+v, want unknown and no host", tr.Verdict, tr.Reason, tr.Classic)
	}
	// What is pruned leaves nothing.
	later := registry.New(s, &registry.Options{Now: func() time.Time { return time.Now().AddDate(2, 0, 0) }})
	if _, err := later.Prune(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Count(t.Context(), "oid.hosts", store.Range{}); err != nil || n != 0 {
		t.Errorf("%d hosts after Prune, %v, want none", n, err)
	}
}

// The ids of a process of this host that nobody has recorded yet say its host and pid.
func TestTraceByThisHost(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	r := registry.New(s, nil)
	pid, kill := sleeper(t)
	time.Sleep(1100 * time.Millisecond) // the start of a process is known to a second
	id := classicID(host, pid)
	if tr := trace(t, r, id); tr.Verdict != registry.Unknown || !strings.Contains(tr.Reason, "where no process with pid ") {
		t.Errorf("before the adoption: %s (%s)", tr.Verdict, tr.Reason)
	}
	m, err := adopt(t.Context(), s, sample(t), options{PID: pid})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	if tr := trace(t, r, id); tr.Verdict != registry.Claimed || tr.Processes[0].GPID != m.GPID() {
		t.Errorf("adopted by another id: %s (%s)", tr.Verdict, tr.Reason)
	}
	kill()
	<-m.Done()
	if tr := trace(t, r, later(id, 60)); tr.Verdict != registry.Unknown || !strings.Contains(tr.Reason, "after the process had ended") {
		t.Errorf("an id from after its end: %s (%s)", tr.Verdict, tr.Reason)
	}
}
