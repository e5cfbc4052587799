package registry_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// only returns the only document of a collection.
func only(t *testing.T, s store.Store, collection string) (doc bson.D) {
	t.Helper()
	for raw, err := range s.Find(t.Context(), collection, store.Query{}) {
		if err != nil || doc != nil {
			t.Fatalf("%s: %v, or more than one document", collection, err)
		}
		if err := bson.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
	}
	return doc
}

// with returns doc with another value of a field.
func with(doc bson.D, field string, value any) bson.D {
	out := append(bson.D(nil), doc...)
	for i := range out {
		if out[i].Key == field {
			out[i].Value = value
		}
	}
	return out
}

// Binary data that are cut short anywhere are an error of what reads them, which names
// the document.
func TestDocumentsThatAreCutShort(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 7), &registry.RemoteOptions{Name: "shop", Clock: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 { // a document of samples, whichever its turn, and some in the living record
		if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{RSS: 1 << 30}, Clock: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	cut := func(s store.Store, collection, field string, end int, read map[string]func() error) {
		t.Helper()
		doc := only(t, s, collection)
		var data []byte
		for _, e := range doc {
			if e.Key == field {
				data = e.Value.(bson.Binary).Data
			}
		}
		if len(data) <= end {
			t.Fatalf("%s has %d bytes of data", collection, len(data))
		}
		for n := range len(data) - end {
			if err := s.Replace(t.Context(), collection, with(doc, field, bson.Binary{Data: data[:n]})); err != nil {
				t.Fatal(err)
			}
			for name, read := range read {
				if err := read(); err == nil || !strings.HasPrefix(err.Error(), "registry: ") || !strings.Contains(err.Error(), doc[0].Value.(string)) {
					t.Errorf("%s, %d of %d bytes, %s: %v, want an error with the document's key", collection, n, len(data), name, err)
				}
			}
		}
		if err := s.Replace(t.Context(), collection, doc); err != nil {
			t.Fatal(err)
		}
		for name, read := range read {
			if err := read(); err != nil {
				t.Errorf("%s whole, %s: %v", collection, name, err)
			}
		}
	}
	page := func() error {
		_, err := r.List(t.Context(), registry.Query{States: []registry.State{registry.Alive}})
		return err
	}
	find := func() error { return drain(r.All(t.Context(), registry.Query{GPID: p.GPID}), 1) }
	list := func() error { return drain(r.All(t.Context(), registry.Query{}), 1) }
	sweep := func() error { _, err := r.Sweep(t.Context()); return err }
	cut(s, "oid.living", "d", 0, map[string]func() error{"page": page, "find": find, "list": list, "sweep": sweep})
	cut(s, "oid.samples", "d", 0, map[string]func() error{"history": func() error {
		return drain(r.History(t.Context(), p.Key(), time.Time{}, time.Time{}), 7)
	}})

	if _, err := r.End(t.Context(), p.Key(), "done", 0); err != nil {
		t.Fatal(err)
	}
	later := registry.New(s, &registry.Options{Now: func() time.Time { return time.Now().AddDate(2, 0, 0) }})
	if done, err := later.Prune(t.Context(), nil); err != nil || done.Records != 1 {
		t.Fatalf("Prune = %+v, %v", done, err)
	}
	id := idOf(t, p.Block)
	cut(s, "oid.values", "essence", len(p.Name), map[string]func() error{"trace": func() error { _, err := r.Trace(t.Context(), id); return err }})
}

// A key that is not one of this package is an error that shows it.
func TestKeysOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		collection string
		doc        bson.D
		want       string
	}{
		{"oid.living", bson.D{{Key: "_id", Value: "short"}, {Key: "d", Value: []byte("data")}}, `"short"`},
		{"oid.living", bson.D{{Key: "_id", Value: objectid.New()}, {Key: "d", Value: []byte("data")}}, "in _id"},
		{"oid.living", bson.D{{Key: "_id", Value: "a1b2c3d4e5"}, {Key: "d", Value: "text"}}, `"a1b2c3d4e5"`},
		{"oid.samples", bson.D{{Key: "_id", Value: "BLOCK:noon"}}, "BLOCK:noon"},
		{"oid.samples", bson.D{{Key: "_id", Value: "BLOCK:0000000000001"}, {Key: "d", Value: []byte{0}}}, "BLOCK:0000000000001"}, // of no sample
	} {
		s := newStore(t)
		r := registry.New(s, nil)
		p, err := r.RegisterRemote(t.Context(), remote(t, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := c.doc[0].Value.(string); ok {
			c.doc[0].Value = strings.Replace(id, "BLOCK", p.Block, 1)
		}
		if _, err := s.Insert(t.Context(), c.collection, append(c.doc, bson.E{Key: "v", Value: 1})); err != nil {
			t.Fatal(err)
		}
		if c.collection == "oid.living" {
			_, err = r.Sweep(t.Context())
		} else {
			err = drain(r.History(t.Context(), p.Key(), time.Time{}, time.Time{}), 1)
		}
		if want := strings.Replace(c.want, "BLOCK", p.Block, 1); err == nil || !strings.HasPrefix(err.Error(), "registry: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s with %v: %v, want an error with %s", c.collection, c.doc, err, want)
		}
	}
}
