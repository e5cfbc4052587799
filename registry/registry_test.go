package registry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

func TestRegisterCreateTraceEnd(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	m := join(t, s, options{Addr: "127.0.0.1:8080", Name: "shop", Version: "v1.2.3", Labels: map[string]string{"zone": "a"}})
	want, _ := gpid.Self("127.0.0.1:8080")
	if m.GPID() != want {
		t.Errorf("GPID = %v, want that of this process, %v", m.GPID(), want)
	}
	id := m.Generator().New()
	p := m.Process()
	if got := hex.EncodeToString(id[4:8]); got != p.Block || p.Value != p.Block {
		t.Errorf("an id begins its process value with %s, the block is %s, the value %s", got, p.Block, p.Value)
	}
	tr := trace(t, r, id)
	if tr.Verdict != registry.Known || !tr.Certain || len(tr.Processes) != 1 {
		t.Fatalf("trace = %+v, want known and certain", tr)
	}
	candidate := tr.Processes[0]
	if candidate.GPID != want || candidate.Name != "shop" || candidate.Version != "v1.2.3" || candidate.Labels["zone"] != "a" || candidate.State != registry.Alive {
		t.Errorf("candidate = %+v", candidate)
	}
	if exe, _ := os.Executable(); candidate.Executable != exe {
		t.Errorf("executable = %q, want %q", candidate.Executable, exe)
	}
	if tr.Before == nil || tr.Before.Goroutines < 2 || tr.Before.Heap <= 0 {
		t.Errorf("load before = %+v, want goroutines and heap", tr.Before)
	}
	if err := m.End(t.Context(), "shut down"); err != nil {
		t.Fatal(err)
	}
	if err := m.End(t.Context(), "again"); !errors.Is(err, registry.ErrEnded) {
		t.Errorf("second End: %v, want ErrEnded", err)
	}
	select {
	case <-m.Done():
	default:
		t.Error("Done is not closed after End")
	}
	left := statusOf(t, r, want)
	if left.State != registry.Ended || left.Reason != "shut down" || left.End.Time.Before(left.From) {
		t.Errorf("after End: %v, %q, %+v", left.State, left.Reason, left.End)
	}
	if tr := trace(t, r, id); tr.Verdict != registry.Known || tr.Processes[0].State != registry.Ended {
		t.Errorf("trace after Leave = %+v, want known", tr)
	}
}

// The first sample is not later than the first id, also in the last millisecond of a second.
func TestFirstIDHasASampleBefore(t *testing.T) {
	s := newStore(t)
	end := time.Now().Truncate(time.Second).Add(-time.Microsecond)
	m := join(t, s, options{Interval: time.Hour, Now: func() time.Time { return end }})
	if tr := trace(t, registry.New(s, nil), m.Generator().New()); tr.Before == nil || tr.Before.Time.After(end) {
		t.Errorf("load before %v: %+v", end, tr.Before)
	}
}

func TestTraceUnknownAndConflict(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	m := join(t, s, options{})
	id := m.Generator().New()
	if err := m.End(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	at := func(created time.Time) objectid.ID {
		moved := objectid.MinAt(created)
		copy(moved[4:], id[4:])
		return moved
	}
	life := statusOf(t, r, m.GPID())
	for _, c := range []struct {
		name string
		id   objectid.ID
		want registry.Verdict
	}{
		{"its own", id, registry.Known},
		{"carried into the last byte", func() objectid.ID { c := id; c[8] = 0xFF; return c }(), registry.Known},
		{"another block", func() objectid.ID { c := id; c[7] ^= 1; return c }(), registry.Unknown},
		{"a bound", objectid.MinAt(time.Now()), registry.Unknown},
		{"a random id", objectid.New(), registry.Unknown},
		{"before it joined", at(life.From.Add(-time.Second)), registry.Conflict},
		{"a day before", at(life.From.AddDate(0, 0, -1)), registry.Conflict},
		{"after it left", at(life.End.Time.Add(time.Second)), registry.Conflict},
		{"in 2106", func() objectid.ID { c := id; copy(c[:4], "\xff\xff\xff\xff"); return c }(), registry.Conflict},
	} {
		tr := trace(t, r, c.id)
		if tr.Verdict != c.want || tr.Reason == "" {
			t.Errorf("%s, %v: %s (%s), want %s", c.name, c.id, tr.Verdict, tr.Reason, c.want)
		}
		if wantProcess := c.want != registry.Unknown; wantProcess != (len(tr.Processes) == 1) {
			t.Errorf("%s: %d processes", c.name, len(tr.Processes))
		}
		if tr.Certain != (c.want == registry.Known) {
			t.Errorf("%s: certain = %v", c.name, tr.Certain)
		}
	}
}

func TestHeartbeatsAreHistory(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	other := join(t, s, options{Addr: "127.0.0.1:2", Interval: 100 * time.Millisecond})
	m := join(t, s, options{Addr: "127.0.0.1:1", Interval: 100 * time.Millisecond})
	history := func(m *registry.Member) []registry.Sample {
		return all(t, r.History(context.Background(), m.Key(), time.Time{}, time.Time{}))
	}
	eventually(t, "six samples of each", func() bool { return len(history(m)) >= 6 && len(history(other)) >= 6 })
	id := m.Generator().New()
	n := len(history(m))
	eventually(t, "samples after the id", func() bool { return len(history(m)) >= n+15 })
	got := history(m)
	for i := 1; i < len(got); i++ {
		if !got[i].Time.After(got[i-1].Time) || got[i].CPU < got[i-1].CPU {
			t.Errorf("sample %d: %v with %v of CPU, after %v with %v", i, got[i].Time, got[i].CPU, got[i-1].Time, got[i-1].CPU)
		}
	}
	mid := got[len(got)/2].Time
	part := all(t, r.History(context.Background(), m.Key(), mid, time.Time{}))
	if len(part) == 0 || !part[0].Time.Equal(mid) {
		t.Errorf("history from %v begins with %+v", mid, part)
	}
	if upTo := all(t, r.History(context.Background(), m.Key(), time.Time{}, mid)); len(upTo) != len(got)/2 {
		t.Errorf("history to %v has %d samples, want %d", mid, len(upTo), len(got)/2)
	}
	tr := trace(t, r, id)
	end := id.Time().Add(time.Second)
	if tr.Before == nil || !tr.Before.Time.Before(end) {
		t.Errorf("sample before %v: %+v", end, tr.Before)
	}
	if tr.After == nil || tr.After.Time.Before(end) {
		t.Errorf("sample after %v: %+v", end, tr.After)
	}
	if tr.CPU < 0 {
		t.Errorf("CPU = %v", tr.CPU)
	}
	for _, err := range r.History(t.Context(), nobody, time.Time{}, time.Time{}) {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("history of nobody: %v, want ErrNotFound", err)
		}
	}
}

func TestTwoMembersOfOneProcess(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	a := join(t, s, options{Addr: "127.0.0.1:1"})
	b := join(t, s, options{Addr: "127.0.0.1:1"})
	if a.Process().Block == b.Process().Block || a.GPID() != b.GPID() {
		t.Errorf("two members: %v and %v", a.Process(), b.Process())
	}
	if err := a.End(t.Context(), "one of two"); err != nil {
		t.Fatal(err)
	}
	if tr := trace(t, r, b.Generator().New()); tr.Verdict != registry.Known || tr.Processes[0].State != registry.Alive {
		t.Errorf("the other member: %+v", tr)
	}
	if found := all(t, r.All(t.Context(), registry.Query{GPID: a.GPID()})); len(found) != 2 {
		t.Errorf("the run is recorded %d times, want twice", len(found))
	}
}

func TestOptionsAreChecked(t *testing.T) {
	s := newStore(t)
	for name, o := range map[string]options{
		"address":        {Addr: "localhost:80"},
		"interval":       {Interval: time.Millisecond},
		"no interval":    {Interval: -1},
		"long interval":  {Interval: 8 * 24 * time.Hour},
		"no randomness":  {Random: bytes.NewReader(nil)},
		"name not UTF-8": {Name: "\xff"},
	} {
		if m, err := register(t.Context(), s, o); err == nil {
			t.Errorf("%s: joined", name)
			finish(t, m)
		}
	}
	if n, _ := s.Count(t.Context(), "oid.processes", store.Range{}); n != 0 {
		t.Errorf("%d records of processes that did not join", n)
	}
}
