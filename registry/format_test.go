package registry_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

var collections = []string{"oid.processes", "oid.values", "oid.samples"}

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
		if doc[i].Value = version; version == nil { // without what the first version did not know
			doc = slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "v" || e.Key == "adopted" })
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
	for _, p := range []registry.Process{p, adopted} { // their first samples, as the first version stored them
		doc := bson.D{{Key: "_id", Value: fmt.Sprintf("%s:%013d", p.Block, p.Last.Time.UnixMilli())}, {Key: "v", Value: 1}, {Key: "rss", Value: int64(4096)}}
		if _, err := s.Insert(t.Context(), "oid.samples", doc); err != nil {
			t.Fatal(err)
		}
	}
	return idOf(t, p.Block), sample
}

// Documents without a format version, those of the first version, are read, and
// the next heartbeat gives them one.
func TestFirstFormatIsRead(t *testing.T) {
	s := newStore(t)
	block, sample := furnish(t, s)
	for _, c := range collections {
		setFormat(t, s, c, nil)
	}
	if err := s.Drop(t.Context(), "oid.living"); err != nil { // which came with the second version
		t.Fatal(err)
	}
	r := registry.New(s, nil)
	for id, want := range map[objectid.ID]registry.Verdict{block: registry.Known, sample: registry.Claimed} {
		if tr := trace(t, r, id); tr.Verdict != want || tr.Before == nil {
			t.Errorf("trace of %v: %+v, want %s", id, tr, want)
		}
	}
	if list := all(t, r.List(t.Context())); len(list) != 2 {
		t.Errorf("List has %d processes, want 2", len(list))
	}
	if _, err := r.Heartbeat(t.Context(), keyOf(t, r, remote(t, 7)), registry.Load{RSS: 5}, time.Time{}); err != nil {
		t.Error(err)
	}
	if h := all(t, r.History(t.Context(), keyOf(t, r, remote(t, 7)), time.Time{}, time.Time{})); len(h) != 2 || h[1].RSS != 5 {
		t.Errorf("History = %+v, want 2 samples", h)
	}
	if _, err := r.End(t.Context(), keyOf(t, r, remote(t, 8)), "done"); err != nil {
		t.Error(err)
	}
	setFormat(t, s, "oid.processes", nil) // the heartbeats have given them one
	later := registry.New(s, &registry.Options{Now: func() time.Time { return time.Now().AddDate(2, 0, 0) }})
	if done, err := later.Prune(t.Context(), nil); err != nil || done.Records != 2 {
		t.Errorf("Prune = %+v, %v", done, err)
	}
	if tr := trace(t, r, sample); tr.Verdict != registry.Claimed {
		t.Errorf("trace after Prune: %+v", tr)
	}
}

// A document of a newer format, or with a version that is not a number, is an error
// of every method that reads it.
func TestNewerFormatIsRefused(t *testing.T) {
	reads := map[string][]string{
		"oid.processes": {"trace", "adopted", "list", "heartbeat", "history", "prune"},
		"oid.values":    {"trace", "adopted", "list", "heartbeat", "prune"},
		"oid.samples":   {"trace", "adopted", "history"},
		"oid.living":    {"trace", "adopted", "list", "heartbeat", "history", "prune"},
	}
	for _, version := range []any{3, int64(1) << 40, "1"} {
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
					err = drain(r.List(t.Context()), 2)
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
