package registry_test

import (
	"errors"
	"slices"
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
					_, err = r.Heartbeat(t.Context(), k, registry.Load{}, time.Time{})
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
