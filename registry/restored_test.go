package registry_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// backup is the documents of a registry by their collections.
type backup map[string][]bson.Raw

func backUp(t *testing.T, s store.Store) backup {
	t.Helper()
	b := backup{}
	for _, c := range []string{"oid.processes", "oid.living", "oid.ended", "oid.values", "oid.samples", "oid.hosts", "oid.registry"} {
		b[c] = all(t, s.Find(t.Context(), c, store.Query{}))
	}
	return b
}

func (b backup) restore(t *testing.T, s store.Store) {
	t.Helper()
	for c, docs := range b {
		if _, err := s.DeleteRange(t.Context(), c, store.Range{}); err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			if _, err := s.Insert(t.Context(), c, doc); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A backup of the store is restored while a process runs. That is no copy of the process:
// it keeps its block, and what it has lost is stored again with its next heartbeat.
func TestStoreThatWentBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		backup  string // when it was made
		adopted bool
		certain bool // are ids that were created before it was restored
	}{
		"made during its life":             {backup: "early", certain: true},
		"made before it registered":        {backup: "before"},
		"made before a value was adopted":  {backup: "early", adopted: true},
		"made at the latest heartbeat":     {backup: "late", certain: true},
		"made before its record was known": {backup: "claimed", certain: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			var clock moved
			r := registry.New(s, &registry.Options{Now: clock.Now})
			backups := map[string]backup{"before": backUp(t, s)}
			m := join(t, s, options{Interval: time.Hour, Now: clock.Now})
			backups["early"] = backUp(t, s)
			backups["claimed"] = backup{"oid.processes": nil, "oid.living": nil, "oid.values": backups["early"]["oid.values"]}
			beat := func() {
				t.Helper()
				count := m.Process().Last.Count
				m.Reseed()
				eventually(t, "a heartbeat", func() bool { return keptCount(t, r, m) > count })
			}
			for range 3 {
				beat()
			}
			id, foreign := m.Generator().New(), sample(t) // they are of one second
			if test.adopted {
				if _, err := r.AddEvidence(t.Context(), m.Key(), []objectid.ID{foreign}, objectid.Modern); err != nil {
					t.Fatal(err)
				}
				for len(m.Process().Adopted) == 0 { // the member learns of it when it looks at its record
					beat()
				}
			}
			backups["late"] = backUp(t, s)
			g, p := m.Generator(), m.Process()
			backups[test.backup].restore(t, s)
			clock.set(5 * time.Second)
			beat()
			if err := m.Err(); err != nil {
				t.Errorf("Err = %v, want nil", err)
			}
			if now := m.Process(); m.Generator() != g || now.Member != p.Member || now.Block != p.Block {
				t.Errorf("member %v with block %s, want %v with %s still", now.Member, now.Block, p.Member, p.Block)
			}
			if st := statusOf(t, r, m.GPID()); st.State != registry.Alive || len(st.Rivals) != 0 {
				t.Errorf("%s (%s), rivals %v", st.State, st.Reason, st.Rivals)
			}
			eventually(t, "an id of the adopted value is claimed", func() bool {
				return !test.adopted || trace(t, r, foreign).Verdict == registry.Claimed
			})
			eventually(t, "an id from before is known", func() bool { return trace(t, r, id).Verdict == registry.Known })
			if tr := trace(t, r, id); tr.Verdict != registry.Known || tr.Certain != test.certain {
				t.Errorf("an id from before: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
			}
			clock.set(7 * time.Second) // ids carry whole seconds
			for range 2 {
				beat()
			}
			if tr := trace(t, r, m.Generator().New()); tr.Verdict != registry.Known || !tr.Certain {
				t.Errorf("an id from afterwards: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
			}
			if n, err := s.Count(t.Context(), "oid.processes", store.Range{}); n != 1 || err != nil {
				t.Errorf("%d records, %v, want 1", n, err)
			}
		})
	}
}

// keptCount is the number of heartbeats of m that its registry has stored.
func keptCount(t *testing.T, r *registry.Registry, m *registry.Member) int64 {
	t.Helper()
	for _, st := range all(t, r.All(t.Context(), registry.Query{GPID: m.GPID()})) {
		return st.Last.Count
	}
	return 0
}
