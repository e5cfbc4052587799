package registry

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// Processes beat in the order of their blocks, spread over the interval, whenever
// they were started; none waits longer than one and a half intervals.
func TestHeartbeatsFollowTheOrderOfKeys(t *testing.T) {
	const interval, n = 10 * time.Second, 1000
	now := time.Now()
	for start := range 5 {
		now := now.Add(time.Duration(start) * 2345 * time.Millisecond)
		var before time.Duration
		for i := range n {
			block := fmt.Sprintf("%08x", uint32(i)*(1<<32/n))
			wait := untilHeartbeat(block, interval, 0, now)
			if wait < interval/2 || wait > 3*interval/2 {
				t.Fatalf("block %s waits %v", block, wait)
			}
			at := now.Add(wait).Sub(now.Add(wait).Truncate(interval))
			if at < before {
				t.Fatalf("block %s at %v, after %v", block, at, before)
			}
			if before = at; i == n/2 && (at < 49*interval/100 || at > 51*interval/100) {
				t.Errorf("the block in the middle beats at %v", at)
			}
			if next := untilHeartbeat(block, interval, 0, now.Add(wait)); next != interval {
				t.Fatalf("block %s waits %v for the second heartbeat", block, next)
			}
		}
	}
}

// counting is a store that cannot be written to, and counts the attempts.
type counting struct {
	away
	attempts *atomic.Int64
}

func (c counting) InsertMany(context.Context, string, []any, *store.InsertOptions) ([]store.Key, error) {
	c.attempts.Add(1)
	return nil, errAway
}

func (c counting) Find(ctx context.Context, collection string, q store.Query) iter.Seq2[bson.Raw, error] {
	c.attempts.Add(1)
	return c.away.Find(ctx, collection, q)
}

func (c counting) SwapMany(context.Context, string, []store.Swap) ([]bson.Raw, error) {
	c.attempts.Add(1)
	return nil, errAway
}

// In an outage of ten minutes a member tries a few times only, and its heartbeats go
// on in memory.
func TestMemberWaitsLongerForAStoreThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts atomic.Int64
		r := New(counting{attempts: &attempts}, &Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
		m, err := r.Register(t.Context(), &RegisterOptions{Offline: true})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := attempts.Load(); n < 8 || n > 20 {
			t.Errorf("%d attempts in 60 intervals, want 8 to 20", n)
		}
		if n := m.Process().Last.Count; n < 59 {
			t.Errorf("%d heartbeats, want 60", n)
		}
		_ = m.End(t.Context(), "done")
	})
}
