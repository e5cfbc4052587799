package registry_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/registry"
)

// Whatever lies between two samples, a trace shows those next to the id.
func TestTraceFindsTheSamplesNextToTheId(t *testing.T) {
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
			docs = append(docs, bson.D{
				{Key: "_id", Value: p.Block + ":" + fmt.Sprintf("%013d", at.UnixMilli())},
				{Key: "cpu", Value: int64(len(docs))},
			})
		}
		if _, err := s.InsertMany(t.Context(), "oid.samples", docs, nil); err != nil {
			t.Fatal(err)
		}
		history := all(t, r.History(t.Context(), m.GPID(), time.Time{}, time.Time{}))
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
				if want := registry.Processors(*before, *after); tr.CPU != want {
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
