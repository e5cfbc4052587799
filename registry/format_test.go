package registry_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// setFormat gives every document of a collection another format version, or none.
func setFormat(t *testing.T, s store.Store, collection string, version any) {
	t.Helper()
	n := 0
	for raw, err := range s.Find(t.Context(), collection, store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		var doc bson.D
		if err := bson.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(doc, func(e bson.E) bool { return e.Key == "v" })
		if i < 0 {
			t.Fatalf("%s: %v has no format version", collection, doc)
		}
		if doc[i].Value = version; version == nil {
			doc = slices.Delete(doc, i, i+1)
		}
		if err := s.Replace(t.Context(), collection, doc); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n == 0 {
		t.Fatalf("%s is empty", collection)
	}
}

// furnish registers a remote process, an adopted one and one with a sample.
func furnish(t *testing.T, s store.Store) (block, sample objectid.ID) {
	t.Helper()
	r := registry.New(s, nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	sample = idOf(t, "a1b2c3d4")
	adopted, err := r.AdoptRemote(t.Context(), remote(t, 8), []objectid.ID{sample}, objectid.Modern, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []registry.Process{p, adopted} {
		doc := registry.SamplesOf(p.Block, registry.Sample{Time: p.Last.Time, Load: registry.Load{RSS: 4096}})
		if _, err := s.Insert(t.Context(), "oid.samples", doc); err != nil {
			t.Fatal(err)
		}
	}
	return idOf(t, p.Block), sample
}

// A document of another format, without a version or with one that is not a number, is
// an error of every method that reads it.
func TestOtherFormatIsRefused(t *testing.T) {
	reads := map[string][]string{
		"oid.processes": {"trace", "adopted", "list", "heartbeat", "history", "prune"},
		"oid.values":    {"trace", "adopted", "list", "heartbeat", "prune"},
		"oid.samples":   {"trace", "adopted", "history"},
		"oid.living":    {"trace", "adopted", "list", "heartbeat", "history", "prune"},
	}
	for _, version := range []any{nil, 0, 2, int64(1) << 40, "1"} {
		for c, names := range reads {
			for _, name := range names {
				s := newStore(t) // of its own: what Prune has moved is listed without its claims
				block, sample := furnish(t, s)
				k := keyOf(t, registry.New(s, nil), remote(t, 7))
				setFormat(t, s, c, version)
				r := registry.New(s, nil)
				var err error
				switch name {
				case "trace":
					_, err = r.Trace(t.Context(), block)
				case "adopted":
					_, err = r.Trace(t.Context(), sample)
				case "list":
					err = drain(r.All(t.Context(), registry.Query{}), 2)
				case "heartbeat":
					_, err = r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: k, Load: registry.Load{}})
				case "history":
					err = drain(r.History(t.Context(), k, time.Time{}, time.Time{}), 1)
				case "prune":
					later := registry.New(s, &registry.Options{Now: func() time.Time { return time.Now().AddDate(2, 0, 0) }})
					_, err = later.Prune(t.Context(), nil)
				}
				if !errors.Is(err, registry.ErrFormat) {
					t.Errorf("version %v in %s: %s: %v, want ErrFormat", version, c, name, err)
				}
			}
		}
	}
}

// Nothing is written into a registry of another format: neither by a member, with or without
// Offline, nor for a remote process. The error says what to do, and has no BSON.
func TestNothingIsWrittenIntoAnotherFormat(t *testing.T) {
	for version, has := range map[any]string{nil: "no valid format version", 0: "format version 0", int64(1) << 40: "format version 1099511627776", "1": "no valid format version"} {
		s := newStore(t)
		p, err := registry.New(s, nil).RegisterRemote(t.Context(), remote(t, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		setFormat(t, s, "oid.processes", version)
		before := count(t, s)
		for name, record := range map[string]func(r *registry.Registry) error{
			"Register": func(r *registry.Registry) error {
				_, err := r.Register(t.Context(), nil)
				return err
			},
			"Register offline": func(r *registry.Registry) error {
				_, err := r.Register(t.Context(), &registry.RegisterOptions{Offline: true})
				return err
			},
			"Adopt": func(r *registry.Registry) error {
				_, err := r.Adopt(t.Context(), []objectid.ID{objectid.New()}, nil)
				return err
			},
			"Adopt offline": func(r *registry.Registry) error {
				_, err := r.Adopt(t.Context(), []objectid.ID{objectid.New()}, &registry.AdoptOptions{RegisterOptions: registry.RegisterOptions{Offline: true}})
				return err
			},
			"RegisterRemote": func(r *registry.Registry) error {
				_, err := r.RegisterRemote(t.Context(), remote(t, 8), nil)
				return err
			},
			"RegisterRemote with a key": func(r *registry.Registry) error {
				_, err := r.RegisterRemote(t.Context(), remote(t, 8), &registry.RemoteOptions{Key: "k"})
				return err
			},
			"AdoptRemote": func(r *registry.Registry) error {
				_, err := r.AdoptRemote(t.Context(), remote(t, 8), []objectid.ID{idOf(t, "a1b2c3d4")}, objectid.Modern, nil)
				return err
			},
			"AddEvidence": func(r *registry.Registry) error {
				_, err := r.AddEvidence(t.Context(), p.Key(), []objectid.ID{idOf(t, "a1b2c3d4")}, objectid.Modern)
				return err
			},
		} {
			err := record(registry.New(s, nil))
			want := fmt.Sprintf("registry: stored by another version of oid: document %q of oid.processes has %s, but this program reads version 1; use the oid that wrote it, or another store",
				p.GPID.String()+"/"+p.Block, has)
			if !errors.Is(err, registry.ErrFormat) || err.Error() != want {
				t.Errorf("version %v: %s: %v, want %s", version, name, err, want)
			}
			if after := count(t, s); !maps.Equal(before, after) {
				t.Fatalf("version %v: %s has written: %v documents, before it %v", version, name, after, before)
			}
		}
	}
}

// A Registry looks at the format before the first process that it records, and not again.
func TestFormatIsReadOnce(t *testing.T) {
	f, calls := noting(newStore(t))
	r := registry.New(f, nil)
	for i, want := range []int{1, 0, 0} {
		p, err := r.RegisterRemote(t.Context(), remote(t, 7+i), nil)
		if err == nil {
			_, err = r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{}})
		}
		if err != nil {
			t.Fatal(err)
		}
		ops := calls()
		if n := len(slices.DeleteFunc(slices.Clone(ops), func(op string) bool { return op != "Find oid.processes" })); n != want {
			t.Errorf("process %d: the calls %q, want %d Find of oid.processes", i, ops, want)
		}
	}
}

// A member that registered offline writes nothing once the store answers, if the registry in
// it has another format.
func TestOfflineMemberMeetsAnotherFormat(t *testing.T) {
	inner := newStore(t)
	foreign := objectid.New()
	if _, err := inner.Insert(t.Context(), "oid.processes", bson.D{{Key: "_id", Value: bson.ObjectID(foreign)}}); err != nil {
		t.Fatal(err)
	}
	before := count(t, inner)
	var back atomic.Bool
	f := &faulty{Store: inner, fail: func(int, string) fault {
		if back.Load() {
			return none
		}
		return refused
	}}
	m, err := register(t.Context(), f, options{Offline: true, Interval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	back.Store(true)
	want := "document " + foreign.String() + " of oid.processes has no valid format version"
	eventually(t, "refused", func() bool {
		return errors.Is(m.Err(), registry.ErrFormat) && strings.Contains(m.Err().Error(), want)
	})
	if err := m.End(t.Context(), "test ends"); !errors.Is(err, registry.ErrFormat) {
		t.Errorf("End: %v, want ErrFormat", err)
	}
	if after := count(t, inner); !maps.Equal(before, after) {
		t.Errorf("%v documents, before it %v", after, before)
	}
}

// count returns how many documents each collection has.
func count(t *testing.T, s store.Store) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	for _, c := range []string{"oid.processes", "oid.living", "oid.values", "oid.samples", "oid.hosts", "oid.ended", "oid.registry"} {
		n, err := s.Count(t.Context(), c, store.Range{})
		if err != nil {
			t.Fatal(err)
		}
		found[c] = n
	}
	return found
}
