package registry_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// A process was killed, with its host or far away, and another one has its value
// now. What the list shows and what the registration and the heartbeats of the other
// one find are the same.
func TestListAndRegistrationAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		options  registry.Options
		want     string
		atOnce   bool
		collides bool
	}{
		{"the only host was started again", registry.Options{OneHost: true}, "dead", true, false},
		{"another host, after watching", registry.Options{}, "presumed dead", false, false},
		{"another host, at the first look", registry.Options{}, "late", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			id := sample(t)
			longAgo := func(p *registry.Process) {
				otherBoot(p)
				p.Last.Time = p.Last.Time.Add(-10 * time.Minute)
			}
			first, err := adopt(t.Context(), elsewhere{s, longAgo}, id, options{Interval: beat})
			if err != nil {
				t.Fatal(err)
			}
			if err := first.Detach(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := registry.New(s, &c.options)
			if c.atOnce {
				if st := statusOf(t, r, first.GPID()); fate(st) != c.want {
					t.Fatalf("the first: %s (%s), want %s", fate(st), st.Reason, c.want)
				}
			} else {
				eventually(t, c.want, func() bool { return fate(statusOf(t, r, first.GPID())) == c.want })
			}
			wantRivals := 0
			if c.collides {
				wantRivals = 1
			}
			check := func(what string, err error) {
				if got := isCollision(err); got != c.collides || err != nil && !got {
					t.Errorf("%s: %v, want a collision: %v", what, err, c.collides)
				}
			}
			second := remote(t, 8)
			_, err = r.AdoptRemote(t.Context(), second, []objectid.ID{id}, objectid.Modern, nil)
			check("registration", err)
			_, err = r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: keyOf(t, r, second), Load: registry.Load{}})
			check("heartbeat", err)
			if st := statusOf(t, r, second); st.State != registry.Alive {
				t.Errorf("the second: %s (%s)", st.State, st.Reason)
			}
			for _, st := range all(t, r.All(t.Context(), registry.Query{})) {
				if st.GPID == second && len(st.Rivals) != wantRivals {
					t.Errorf("List shows rivals %v, want %d", st.Rivals, wantRivals)
				}
			}
		})
	}
}

// oneProcess is a store in memory with the documents of one remote process.
type oneProcess struct {
	store.Store
	docs map[string]bson.Raw
}

func (o *oneProcess) InsertMany(_ context.Context, c string, docs []any, _ *store.InsertOptions) (keys []store.Key, err error) {
	o.docs[c], err = bson.Marshal(docs[0])
	return make([]store.Key, len(docs)), err
}

func (o *oneProcess) SwapMany(ctx context.Context, c string, swaps []store.Swap) ([]bson.Raw, error) {
	_, err := o.InsertMany(ctx, c, []any{swaps[0].New}, nil)
	return []bson.Raw{o.docs[c]}, err
}

func (o *oneProcess) Get(_ context.Context, c string, _ store.Key) (bson.Raw, error) {
	return o.docs[c], nil
}

func (o *oneProcess) GetMany(ctx context.Context, c string, keys []store.Key) ([]bson.Raw, error) {
	docs := make([]bson.Raw, len(keys))
	for i := range docs {
		docs[i] = o.docs[c]
	}
	return docs, nil
}

func (o *oneProcess) Count(context.Context, string, store.Range) (int64, error) { return 1, nil }

func (o *oneProcess) Find(_ context.Context, c string, _ store.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		if doc := o.docs[c]; doc != nil {
			yield(doc, nil)
		}
	}
}

func (o *oneProcess) FindMany(_ context.Context, c string, ranges []store.Range, _ int) ([][]bson.Raw, error) {
	found := make([][]bson.Raw, len(ranges))
	for i := range found {
		if doc := o.docs[c]; doc != nil {
			found[i] = []bson.Raw{doc}
		}
	}
	return found, nil
}

// The heartbeat of a remote process depends on nothing of this host, so it reads
// none of its files.
func TestRemoteHeartbeatReadsNoFile(t *testing.T) {
	r := registry.New(&oneProcess{docs: map[string]bson.Raw{}}, nil)
	g := remote(t, 7)
	if _, err := r.RegisterRemote(t.Context(), g, nil); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // the count is that of a thread
	defer runtime.UnlockOSThread()
	reads := func() (n int) {
		text, err := os.ReadFile("/proc/thread-self/io")
		if err != nil {
			t.Skipf("this system does not count reads: %v", err)
		}
		_, rest, _ := strings.Cut(string(text), "syscr: ")
		fmt.Sscan(rest, &n)
		return n
	}
	least := 1 << 30 // another goroutine may read on the same thread
	for range 20 {
		before := reads()
		if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: keyOf(t, r, g), Load: registry.Load{}}); err != nil {
			t.Fatal(err)
		}
		least = min(least, reads()-before)
	}
	before := reads()
	if own := reads() - before; least > own {
		t.Errorf("a heartbeat reads %d times, want never", least-own)
	}
}
