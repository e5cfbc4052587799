package registry_test

import (
	"encoding/binary"
	"os"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/memstore"
)

// tracing has a Tracer, and counts the ids that it looks up.
type tracing struct {
	*testing.T
	*registry.Tracer
	registry *registry.Registry
	ops      func() []string
	during   func(op string) // called before each call of the store
}

// trace returns a trace by the Tracer, and how many times the Tracer has looked for claims of
// an id.
func (t *tracing) trace(id objectid.ID) (found registry.Trace, lookups int) {
	t.Helper()
	t.ops()
	found, err := t.Trace(t.Context(), id)
	if err != nil {
		t.Fatalf("%v: %v", id, err)
	}
	for _, op := range t.ops() {
		if op == "FindMany oid.values" {
			lookups++
		}
	}
	return found, lookups
}

// wantSame checks that the Tracer traces id as its registry does, after so many lookups.
func (t *tracing) wantSame(id objectid.ID, want int) {
	t.Helper()
	same := trace(t, t.registry, id)
	if found, lookups := t.trace(id); !reflect.DeepEqual(found, same) || lookups != want {
		t.Errorf("%v: %d lookups, want %d: %+v, want %+v", id, lookups, want, found, same)
	}
}

// wantLookups checks how many of n strays the Tracer looks up.
func (t *tracing) wantLookups(n, want int) {
	t.Helper()
	sum := 0
	for range n {
		id := stray()
		found, lookups := t.trace(id)
		if want := trace(t, t.registry, id); !reflect.DeepEqual(found, want) {
			t.Errorf("%v: %+v, want %+v", id, found, want)
		}
		sum += lookups
	}
	if sum != want {
		t.Errorf("%d ids of no process: %d are looked up, want %d", n, sum, want)
	}
}

// inTracing calls do in a bubble with a clock of its own.
func inTracing(t *testing.T, do func(t *tracing)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(remoteStart.Add(time.Minute)))
		f, ops := noting(memstore.New())
		r := registry.New(f, nil)
		tracing := tracing{t, registry.NewTracer(r), r, ops, func(string) {}}
		f.fail = func(_ int, op string) fault {
			tracing.during(op)
			return none
		}
		do(&tracing)
	})
}

// What a Tracer says without the store is what Trace says, also of ids that a record of the
// registry is about.
func TestTracerAgreesWithTrace(t *testing.T) {
	inTracing(t, func(t *tracing) {
		r := t.registry
		p, err := r.RegisterRemote(t.Context(), remote(t, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		adopted := idOf(t, "a1b2c3d4")
		if _, err := r.AdoptRemote(t.Context(), remote(t, 8), []objectid.ID{adopted}, objectid.Modern, nil); err != nil {
			t.Fatal(err)
		}
		onHost(t.T, r, "db1", 4711)
		here, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		t.wantLookups(50, 16)
		for what, id := range map[string]objectid.ID{
			"registered": idOf(t, p.Block), "adopted": adopted, "host": classicID("db1", 4711), "another pid of the host": classicID("db1", 1), "this host": classicID(here, 1),
		} {
			t.Log(what)
			t.wantSame(before(id, 2*time.Minute), 1)
		}
		// A registry with too many claims is asked for each id.
		for most, looked := range []int{20, 20, 20, 20, 0} { // there are 3 claims of blocks and one of a value
			few := registry.NewTracer(r)
			few.SetMaxClaims(most)
			two := &tracing{t.T, few, r, t.ops, nil}
			two.wantLookups(16, 16)
			two.wantLookups(20, looked)
		}
	})
}

// Process values that nobody has registered are remembered. A process that registers after
// that is found from its first id on.
func TestTracerFindsNewProcesses(t *testing.T) {
	inTracing(t, func(t *tracing) {
		t.wantLookups(20, 16)
		p, err := t.registry.RegisterRemote(t.Context(), remote(t, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		if found, _ := t.trace(idOf(t, p.Block)); found.Verdict != registry.Known {
			t.Errorf("the first id of a process: %+v", found)
		}
	})
}

// A trace is one second old at most, and what Forget is called after is seen at once.
func TestTracerForgets(t *testing.T) {
	for what, pass := range map[string]func(*tracing){
		"a second":     func(*tracing) { time.Sleep(time.Second + time.Nanosecond) },
		"under Forget": func(t *tracing) { t.Forget() },
	} {
		t.Run(what, func(t *testing.T) {
			inTracing(t, func(t *tracing) {
				p, err := t.registry.RegisterRemote(t.Context(), remote(t, 7), nil)
				if err != nil {
					t.Fatal(err)
				}
				ids := []objectid.ID{idOf(t, p.Block), idOf(t, "12345678"), stray()} // known, unknown but new, unknown
				t.wantLookups(17, 16)
				t.trace(ids[0])
				t.trace(ids[1])
				time.Sleep(time.Second / 2)
				for _, id := range ids {
					id[11]++ // also of other ids
					if found, lookups := t.trace(id); found.ID != id || lookups != 0 {
						t.Errorf("the trace of %v is that of %v after %d lookups, want none", id, found.ID, lookups)
					}
				}
				if _, err := t.registry.End(t.Context(), p.Key(), "done", 0); err != nil {
					t.Fatal(err)
				}
				if _, err := t.registry.AdoptRemote(t.Context(), remote(t, 8), ids[1:], objectid.Modern, nil); err != nil {
					t.Fatal(err)
				}
				pass(t)
				for _, id := range ids {
					t.wantSame(id, 1)
				}
			})
		})
	}
}

// What the Tracer is reading while Forget is called may be from before the change, and is not
// remembered.
func TestTracerForgetsWhatItReads(t *testing.T) {
	inTracing(t, func(t *tracing) {
		id := stray()
		t.during = func(op string) {
			if op == "FindMany oid.values" {
				t.Forget()
			}
		}
		for range 2 {
			if _, lookups := t.trace(id); lookups != 1 {
				t.Errorf("%d lookups of an id that was looked up before Forget, want 1", lookups)
			}
		}
		t.during = func(op string) {
			if op == "Find oid.values" {
				t.Forget()
			}
		}
		time.Sleep(time.Nanosecond)
		t.wantLookups(20, 20)
	})
}

// Reading the claims again takes no longer than the lookups before it.
func TestTracerReadsClaimsSeldom(t *testing.T) {
	inTracing(t, func(t *tracing) {
		for i := range 20 * 16 {
			id := idOf(t, "00000000")
			binary.BigEndian.PutUint32(id[4:], uint32(i+1))
			if _, err := t.registry.AdoptRemote(t.Context(), remote(t, 100+i), []objectid.ID{id}, objectid.Modern, nil); err != nil {
				t.Fatal(err)
			}
		}
		t.wantLookups(100, 16)
		time.Sleep(2 * time.Second)
		t.wantLookups(100, 40) // as 320 process values have two claims each
	})
}

// Anyone can ask for ids that nobody has created. They take a bounded memory, and none of the
// place of known ids.
func TestTracerBounds(t *testing.T) {
	inTracing(t, func(t *tracing) {
		t.SetMaxClaims(0)
		p, err := t.registry.RegisterRemote(t.Context(), remote(t, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			t.trace(idOf(t, p.Block))
			t.trace(stray())
			if known, others := t.Kept(); known != 1 || others > 1000 {
				t.Fatalf("the traces of %d known ids and of %d others are kept", known, others)
			}
		}
	})
}

// Many goroutines share a Tracer.
func TestTracerConcurrently(t *testing.T) {
	r := registry.New(newStore(t), nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	tracer := registry.NewTracer(r)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 200 {
				id, want := stray(), registry.Unknown
				if i%2 == 0 {
					id, want = idOf(t, p.Block), registry.Known
				}
				if found, err := tracer.Trace(t.Context(), id); err != nil || found.ID != id || found.Verdict != want {
					t.Errorf("%+v, %v, want %s", found, err, want)
				}
				if i%50 == 0 {
					tracer.Forget()
				}
			}
		})
	}
	all.Wait()
}
