package server

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

// Anyone can ask for ids that nobody has created: as many as there are, they neither take
// more memory nor the place of ids that are known.
func TestTraceCacheBounds(t *testing.T) {
	s, err := New(&Options{Open: func(context.Context) (store.Store, error) { return memstore.New(), nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.backend.connect(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer s.backend.close(context.Background())
	verdict := func(id objectid.ID) string {
		t.Helper()
		got, err := s.wireTrace(t.Context(), id)
		if err != nil || got.ID != id {
			t.Fatalf("trace of %v: %+v, %v", id, got, err)
		}
		return got.Verdict
	}
	known := s.backend.generator().New()
	for range 2 {
		if got := verdict(known); got != "known" {
			t.Errorf("an id of the server: %s", got)
		}
	}
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	for i := range 3 * maxTraces {
		binary.BigEndian.PutUint32(id[4:], uint32(i))
		if got := verdict(id); got != "unknown" {
			t.Fatalf("an id that nobody has created: %s", got)
		}
		if known, unknown := len(s.known.kept), len(s.unknown.kept); known != 1 || unknown > maxTraces {
			t.Fatalf("the traces of %d known ids and of %d others are kept", known, unknown)
		}
	}
}

// What is kept has a bound and an age, and nothing that was asked for before a change of the
// registry is kept after it.
func TestRecentBounds(t *testing.T) {
	var c recent[int, string]
	now := time.Now()
	for i := range 30 {
		if c.put(i, "old", now, 10); len(c.kept) > 10 {
			t.Fatalf("%d answers are kept", len(c.kept))
		}
	}
	if got, ok := c.get(29, now.Add(recentLife)); !ok || got != "old" {
		t.Errorf("the latest: %q, %v", got, ok)
	}
	if got, ok := c.get(29, now.Add(recentLife+1)); ok {
		t.Errorf("kept for longer than %v: %q", recentLife, got)
	}
	c.put(29, "new", now.Add(2*recentLife), 10)
	if got, _ := c.get(29, now.Add(2*recentLife)); got != "new" {
		t.Errorf("after it was asked for again: %q", got)
	}
	asked := time.Now()
	c.forget()
	c.put(1, "old", asked, 10)
	if got, ok := c.get(1, asked); ok {
		t.Errorf("asked for before the change: %q", got)
	}
}
