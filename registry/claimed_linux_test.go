package registry_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// What is said without the store is what Trace says, and never of an id that a record of the
// registry is about.
func TestClaimedValuesAgreeWithTrace(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	adopted := idOf(t, "a1b2c3d4")
	if _, err := r.AdoptRemote(t.Context(), remote(t, 8), []objectid.ID{adopted}, objectid.Modern, nil); err != nil {
		t.Fatal(err)
	}
	onHost(t, r, "db1", 4711)
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.ClaimedValues(t.Context(), 4)
	if err != nil || c.Len() == 0 {
		t.Fatalf("%d values, %v", c.Len(), err)
	}
	for what, id := range map[string]objectid.ID{
		"registered": idOf(t, p.Block), "adopted": adopted, "host": classicID("db1", 4711), "another pid of the host": classicID("db1", 1), "this host": classicID(here, 1),
	} {
		if got, ok := c.Trace(id); ok {
			t.Errorf("%s: traced without the store: %+v", what, got)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		id := objectid.MinAt(time.Now())
		binary.BigEndian.PutUint64(id[4:], random.Uint64())
		got, ok := c.Trace(id)
		if want := trace(t, r, id); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %+v, %v, want %+v", id, got, ok, want)
		}
	}
	for most, enough := range []bool{false, false, false, false, true} { // 3 claims of blocks and one of a value
		if c, err := r.ClaimedValues(t.Context(), most); err != nil || (c != nil) != enough {
			t.Errorf("at most %d: %v, %v", most, c, err)
		} else if _, ok := c.Trace(objectid.ID{1}); ok != enough {
			t.Errorf("at most %d: traced %v", most, ok)
		}
	}
}
