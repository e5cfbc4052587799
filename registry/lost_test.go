package registry_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// A backup of the store is restored that is older than the registration of a live
// member: its claim is gone, or its record, or both. The member registers again, and
// its ids are traced to it, those from before with a word of caution.
func TestClaimIsLost(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string][]string{
		"claim": {"oid.values"}, "record": {"oid.processes"}, "both": {"oid.values", "oid.processes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			r := registry.New(s, nil)
			m := join(t, s, options{Interval: beat})
			adopted, err := adopt(t.Context(), s, objectid.New(), options{Interval: beat})
			if err != nil {
				t.Fatal(err)
			}
			defer finish(t, adopted)
			before := m.Generator().New()
			time.Sleep(1100 * time.Millisecond) // ids carry whole seconds
			for _, c := range lost {
				if _, err := s.DeleteRange(t.Context(), c, store.Range{}); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "the member registers again", func() bool {
				tr := trace(t, r, m.Generator().New())
				return tr.Verdict == registry.Known && tr.Certain && tr.Processes[0].Member == m.Process().Member && m.Err() == nil
			})
			eventually(t, "so does the adopted process", func() bool {
				tr := trace(t, r, objectid.New())
				return tr.Verdict == registry.Claimed && tr.Processes[0].Member == adopted.Process().Member
			})
			tr := trace(t, r, before)
			if certain := name == "record"; tr.Verdict != registry.Known || tr.Certain != certain {
				t.Errorf("an id from before: %s, certain %v (%s), want certain %v", tr.Verdict, tr.Certain, tr.Reason, certain)
			}
			if n := len(all(t, r.All(t.Context(), registry.Query{}))); n != 2 {
				t.Errorf("List has %d processes, want 2", n)
			}
		})
	}
}

// hooked is a store that calls a function after each document it inserted.
type hooked struct {
	store.Store
	inserted func(collection string)
}

func (h hooked) InsertMany(ctx context.Context, c string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	keys, err := h.Store.InsertMany(ctx, c, docs, o)
	if err == nil {
		h.inserted(c)
	}
	return keys, err
}

// Somebody traces an id from before at the moment at which the claim is back.
func TestTraceWhileAClaimIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	traced := make(chan registry.Trace, 1)
	var before atomic.Pointer[objectid.ID]
	m := join(t, hooked{s, func(c string) {
		if id := before.Load(); id != nil && c == "oid.values" {
			tr, err := r.Trace(t.Context(), *id)
			if err != nil {
				t.Error(err)
			}
			select {
			case traced <- tr:
			default:
			}
		}
	}}, options{Interval: beat})
	id := m.Generator().New()
	if tr := trace(t, r, id); !tr.Certain {
		t.Fatalf("certain false (%s) before anything was lost", tr.Reason)
	}
	time.Sleep(1100 * time.Millisecond) // ids carry whole seconds
	before.Store(&id)
	if _, err := s.DeleteRange(t.Context(), "oid.values", store.Range{}); err != nil {
		t.Fatal(err)
	}
	select {
	case tr := <-traced:
		if tr.Verdict != registry.Known || tr.Certain {
			t.Errorf("%s, certain %v (%s), want known and certain false", tr.Verdict, tr.Certain, tr.Reason)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the block was not claimed again")
	}
}

// Meanwhile another process has claimed the block. Both are told, and what either
// creates is a collision.
func TestLostClaimOfAnother(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string][]string{"claim": {"oid.values"}, "both": {"oid.values", "oid.processes"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			r := registry.New(s, nil)
			first := join(t, s, options{Interval: 500 * time.Millisecond, Addr: "127.0.0.1:1"})
			for _, c := range lost {
				if _, err := s.DeleteRange(t.Context(), c, store.Range{}); err != nil {
					t.Fatal(err)
				}
			}
			id := first.Generator().New()
			second := join(t, s, options{Interval: 500 * time.Millisecond, Addr: "127.0.0.1:2", Random: strings.NewReader(string(id[4:8]))})
			if other := second.Generator().New(); [4]byte(other[4:8]) != [4]byte(id[4:8]) {
				t.Fatal("the second one has another block: the test shows nothing")
			}
			eventually(t, "both are told", func() bool {
				return errors.Is(first.Err(), registry.ErrCollision) && errors.Is(second.Err(), registry.ErrCollision)
			})
			for _, m := range []*registry.Member{first, second} {
				if tr := trace(t, r, m.Generator().New()); tr.Verdict != registry.Collision {
					t.Errorf("%v: %s (%s)", m.GPID(), tr.Verdict, tr.Reason)
				}
			}
			if n := len(all(t, r.All(t.Context(), registry.Query{}))); n != 2 {
				t.Errorf("List has %d processes, want 2", n)
			}
			if n, err := s.Count(t.Context(), "oid.living", store.Range{}); n != 2 || err != nil {
				t.Errorf("%d living records, %v, want 2: nothing is left under the block that was given up", n, err)
			}
		})
	}
}

// The same, and the store fails once while the first one claims another block: each
// call at a time. It is found under one block afterwards.
func TestLostClaimOfAnotherWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	for fails := range 14 {
		t.Run(strconv.Itoa(fails), func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			var from atomic.Int64 // the call that fails
			from.Store(math.MaxInt64)
			away := &faulty{Store: s}
			away.fail = func(call int, _ string) fault {
				if int64(call) == from.Load() {
					return refused
				}
				return none
			}
			first := join(t, away, options{Interval: beat, Addr: "127.0.0.1:1"})
			block := first.Process().Block
			if _, err := s.DeleteRange(t.Context(), "oid.values", store.Range{}); err != nil {
				t.Fatal(err)
			}
			id := first.Generator().New()
			second := join(t, s, options{Interval: beat, Addr: "127.0.0.1:2", Random: strings.NewReader(string(id[4:8]))})
			if got := second.Process().Block; got != block {
				t.Logf("nothing is shown: the first one claimed again before the second one, which has %s", got)
				return
			}
			away.mu.Lock()
			from.Store(int64(away.calls + fails))
			away.mu.Unlock()
			eventually(t, "both are told", func() bool {
				return errors.Is(first.Err(), registry.ErrCollision) && errors.Is(second.Err(), registry.ErrCollision)
			})
			if n := len(all(t, registry.New(s, nil).All(t.Context(), registry.Query{}))); n != 2 {
				t.Errorf("List has %d processes, want 2", n)
			}
			if first.Process().Block == block {
				t.Error("both are recorded under one block")
			}
			if n, err := s.Count(t.Context(), "oid.living", store.Range{}); n != 2 || err != nil {
				t.Errorf("%d living records, %v, want 2", n, err)
			}
		})
	}
}

// The heartbeat and the end of a remote process arrive at the same time, over two
// servers. What was recorded stays recorded, whichever is the first.
func TestHeartbeatAndEndAtOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const rounds, beats = 50, 3
	for round := range rounds {
		g := remote(t, round+1)
		p, err := registry.New(s, nil).RegisterRemote(t.Context(), g, nil)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		recorded := make([]bool, beats)
		for i := range beats {
			wg.Go(func() {
				_, err := registry.New(s, nil).Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{}})
				if recorded[i] = err == nil; err != nil && !errors.Is(err, registry.ErrEnded) {
					t.Errorf("round %d: Heartbeat: %v", round, err)
				}
			})
		}
		wg.Go(func() {
			if _, err := registry.New(s, nil).End(t.Context(), p.Key(), "done", 0); err != nil {
				t.Errorf("round %d: End: %v", round, err)
			}
		})
		wg.Wait()
		want := int64(2) // the registration and the end
		for _, ok := range recorded {
			if ok {
				want++
			}
		}
		if st := statusOf(t, registry.New(s, nil), g); st.State != registry.Ended || st.Last.Count != want {
			t.Errorf("round %d: %s after %d heartbeats, want ended after %d", round, st.State, st.Last.Count, want)
		}
	}
}
