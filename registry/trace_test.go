package registry_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// Whatever lies between two samples, a trace shows those next to the id.
func TestTraceFindsTheSamplesNextToTheId(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 1))
	both := 0
	for range 40 {
		s := newStore(t)
		m := join(t, s, options{Interval: 10 * time.Second})
		p := m.Process()
		var clock moved
		clock.set(2 * time.Hour)
		r := registry.New(s, &registry.Options{Now: clock.Now})
		var docs []any
		at := p.From
		for spread := []time.Duration{time.Second, 10 * time.Second, 10 * time.Minute}[random.IntN(3)]; len(docs) < 100; {
			at = at.Add(time.Millisecond + time.Duration(random.Int64N(int64(2*spread))))
			docs = append(docs, registry.SamplesOf(p.Block, registry.Sample{Time: at, Load: registry.Load{CPU: time.Duration(len(docs))}}))
		}
		if _, err := s.InsertMany(t.Context(), "oid.samples", docs, nil); err != nil {
			t.Fatal(err)
		}
		history := all(t, r.History(t.Context(), m.Key(), time.Time{}, time.Time{}))
		for range 50 {
			id := later(m.Generator().New(), random.IntN(3600))
			var before, after *registry.Sample
			for _, s := range history {
				if s.Time.Before(id.Time().Add(time.Second)) {
					before = &s
				} else if after == nil {
					after = &s
				}
			}
			tr := trace(t, r, id)
			if !same(tr.Before, before) || !same(tr.After, after) {
				t.Fatalf("id of %v: samples %+v and %+v, want %+v and %+v", id.Time(), tr.Before, tr.After, before, after)
			}
			if before != nil && after != nil {
				both++
				if want := registry.CPUUsed(before, after); tr.CPU != want {
					t.Fatalf("id of %v: %v processors, want %v", id.Time(), tr.CPU, want)
				}
			}
		}
	}
	if both < 100 {
		t.Errorf("the test is weaker than it says: %d ids between two samples", both)
	}
}

func same(a, b *registry.Sample) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Time.Equal(b.Time) && a.Load == b.Load
}

// late is a store that runs a function between the trace's read of the living record and
// its reads of samples.
type late struct {
	store.Store
	between func()
}

func (l *late) Get(ctx context.Context, c string, k store.Key) (bson.Raw, error) {
	doc, err := l.Store.Get(ctx, c, k)
	if f := l.between; f != nil && c == "oid.living" {
		l.between = nil
		f()
	}
	return doc, err
}

// While a trace reads, the process stores its latest samples and goes on: the trace has
// those next to the id all the same.
func TestTraceWhileSamplesAreStored(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var clock moved
	r := registry.New(s, &registry.Options{Now: clock.Now})
	got, err := r.RegisterRemote(t.Context(), remote(t, 1), &registry.RemoteOptions{Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	beats := func(until int) {
		for ; n < until; n++ {
			clock.set(time.Duration(n) * 10 * time.Second)
			if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: keyOf(t, r, remote(t, 1)), Load: registry.Load{RSS: int64(4096 * n)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	beats(11)
	value, err := hex.DecodeString(got.Block + "00")
	if err != nil {
		t.Fatal(err)
	}
	var id objectid.ID
	binary.BigEndian.PutUint32(id[:], uint32(got.From.Add(85*time.Second).Unix()))
	copy(id[4:], value)
	want := trace(t, r, id)
	if want.Before == nil || want.After == nil || want.After.Time.Sub(want.Before.Time) > 11*time.Second {
		t.Fatalf("samples %+v and %+v", want.Before, want.After)
	}
	l := &late{Store: s, between: func() { beats(24) }}
	tr := trace(t, registry.New(l, &registry.Options{Now: clock.Now}), id)
	if l.between != nil {
		t.Error("the test did not come between the reads")
	}
	if !same(tr.Before, want.Before) || !same(tr.After, want.After) || tr.CPU != want.CPU {
		t.Errorf("samples %+v and %+v, want %+v and %+v", tr.Before, tr.After, want.Before, want.After)
	}
}
