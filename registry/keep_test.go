package registry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// A Prune that fails at any of its calls, done or not, is completed by the next one:
// no record, sample, living record or entry is left, and each claim has shrunk.
func TestPruneIsCompletedAfterEachFailure(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	later := func() time.Time { return time.Now().AddDate(2, 0, 0) }
	for _, kind := range []fault{refused, lostAnswer} {
		for k := 0; ; k++ {
			s := newStore(t)
			populate(t, s, 1)
			r := registry.New(s, nil)
			if _, err := r.AdoptRemote(t.Context(), remote(t, 900), []objectid.ID{sample(t)}, objectid.Modern, &registry.RemoteOptions{Name: "adopted", Host: "web1"}); err != nil {
				t.Fatal(err)
			}
			failed := false
			f := &faulty{Store: s, fail: func(call int, _ string) fault {
				if call != k {
					return none
				}
				failed = true
				return kind
			}}
			_, err := registry.New(f, &registry.Options{Now: later}).Prune(t.Context(), nil)
			if failed && !errors.Is(err, errStore) || !failed && err != nil {
				t.Errorf("call %d fails: %v", k, err)
			}
			if _, err := registry.New(s, &registry.Options{Now: later}).Prune(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			for _, c := range []string{"oid.processes", "oid.samples", "oid.living", "oid.ended", "oid.hosts"} {
				if n, err := s.Count(t.Context(), c, store.Range{}); err != nil || n != 0 {
					t.Errorf("call %d (%s) fails: %d documents left in %s, %v", k, f.ops[min(k, len(f.ops)-1)], n, c, err)
				}
			}
			for raw, err := range s.Find(t.Context(), "oid.values", store.Query{}) {
				if err != nil || raw.Lookup("member").Type != 0 {
					t.Errorf("call %d (%s) fails: claim of %d bytes, %v", k, f.ops[min(k, len(f.ops)-1)], len(raw), err)
				}
			}
			if !failed {
				break
			}
		}
	}
}

// meddled runs a function before the first call of SwapMany for records.
type meddled struct {
	store.Store
	before func()
}

func (m *meddled) SwapMany(ctx context.Context, c string, swaps []store.Swap) ([]bson.Raw, error) {
	if f := m.before; f != nil && c == "oid.processes" {
		m.before = nil
		f()
	}
	return m.Store.SwapMany(ctx, c, swaps)
}

// While a sweep moves many silent processes, one of them sends a heartbeat, another
// gets a further sample, and a third ends: the first stays among the living, and the
// others are moved with what was added.
func TestSweepBesideWriters(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	const n = 30
	for i := range n {
		if _, err := r.AdoptRemote(t.Context(), remote(t, 1+i), []objectid.ID{sample(t)}, objectid.Modern, &registry.RemoteOptions{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		for range i % 9 { // with and without a document of samples
			if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: keyOf(t, r, remote(t, 1+i)), Load: registry.Load{RSS: 4096}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var now moved
	now.set(25 * time.Hour)
	more := sample(t)
	m := &meddled{Store: s, before: func() {
		if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: keyOf(t, r, remote(t, 1)), Load: registry.Load{}}); err != nil {
			t.Error(err)
		}
		if _, err := r.AddEvidence(t.Context(), keyOf(t, r, remote(t, 2)), []objectid.ID{more}, objectid.Modern); err != nil {
			t.Error(err)
		}
		if _, err := r.End(t.Context(), keyOf(t, r, remote(t, 3)), "done", 0); err != nil {
			t.Error(err)
		}
	}}
	if _, err := registry.New(m, &registry.Options{Now: now.Now}).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if count, err := s.Count(t.Context(), "oid.living", store.Range{}); err != nil || count != 1 {
		t.Errorf("%d are living, %v, want the one that sent a heartbeat", count, err)
	}
	if st := statusOf(t, r, remote(t, 2)); len(st.Adopted) != 2 {
		t.Errorf("a sample was added: %+v", st.Adopted)
	}
	if st := statusOf(t, r, remote(t, 3)); st.State != registry.Ended || st.End.Reason != "done" {
		t.Errorf("ended meanwhile: %s", st.State)
	}
	for i := range n {
		want := 1 + i%9
		if i == 0 {
			want++
		}
		if h := drainAll(t, r, remote(t, 1+i)); len(h) != want {
			t.Errorf("process %d: %d samples, want %d", i, len(h), want)
		}
	}
	var later moved
	later.set(2 * 365 * 24 * time.Hour)
	if done, err := registry.New(s, &registry.Options{Now: later.Now}).Prune(t.Context(), nil); err != nil || done.Records != n {
		t.Errorf("Prune = %+v, %v, want %d records: each has an entry", done, err, n)
	}
}
