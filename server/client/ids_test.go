package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// The first id registers a member, the others need no request, also while the server is
// away for a day. Each has the time of its creation and is greater than the one before.
func TestIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := registry(func() int { return 200 })
		s := &client.IDs{Client: f.client()}
		var last objectid.ID
		take := func() {
			t.Helper()
			began := time.Now()
			id, err := s.New(t.Context())
			if err != nil || block(id) != 1 || id.Compare(last) <= 0 || !id.Time().Equal(began.Truncate(time.Second)) || time.Since(began) != 0 {
				t.Fatalf("%v after %v, of %v, %v; want one of block 1 and of %v", id, last, id.Time(), err, began)
			}
			last = id
		}
		for range 10_000 {
			take()
		}
		var sent wire.Registration
		if got := f.seen("/v1/processes"); len(got) != 1 || json.Unmarshal([]byte(got[0].body), &sent) != nil || sent.Name != filepath.Base(os.Args[0]) {
			t.Errorf("registrations %+v, want one with the name of this program", got)
		}
		f.hangs(true)
		for range 24 {
			time.Sleep(time.Hour)
			take()
		}
		f.hangs(false)
		time.Sleep(2 * time.Minute)
		take()
		m, err := s.Member(t.Context())
		if err != nil || m.Key() != "m1" {
			t.Fatalf("Member: %v, %v", m, err)
		}
		if err := m.End("done"); err != nil {
			t.Error(err)
		}
	})
}

// Callers share one attempt to register. One that fails is their error until it is time for
// the next, after a pause that grows to a minute; all have one idempotency key.
func TestIDsBeforeTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, down := unsteady(500)
		down.Store(true)
		s := &client.IDs{Client: f.client(), Registration: wire.Registration{Name: "shop"}}
		f.hangs(true)
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		began := time.Now()
		if _, err := s.New(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v, want the end of the context", err, time.Since(began))
		}
		if _, err := s.New(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %v, want an end after ten seconds", err, time.Since(began))
		}
		f.hangs(false)
		for range 10 * 60 * 10 { // ten minutes
			time.Sleep(100 * time.Millisecond)
			began := time.Now()
			var problem *client.Error
			if _, err := s.New(t.Context()); time.Since(began) != 0 || !errors.Is(err, context.DeadlineExceeded) && (!errors.As(err, &problem) || problem.Status != 500) {
				t.Fatalf("%v after %v, want the error of the latest attempt at once", err, time.Since(began))
			}
		}
		got := f.seen("/v1/processes")
		if len(got) < 13 || len(got) > 17 {
			t.Errorf("%d attempts in ten minutes", len(got))
		}
		for i, r := range got[1:] {
			if pause := r.at.Sub(got[i].at); r.key != got[0].key || i > 0 && (pause < time.Second || pause > 76*time.Second) {
				t.Errorf("attempt %d comes after %v, with key %q; the first has %q", i+2, pause, r.key, got[0].key)
			}
		}
		down.Store(false)
		time.Sleep(76 * time.Second)
		if id, err := s.New(t.Context()); err != nil || block(id) != 1 {
			t.Errorf("%v, %v", id, err)
		}
		m, err := s.Member(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := m.End("done"); err != nil {
			t.Error(err)
		}
	})
}
