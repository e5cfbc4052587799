package redislock

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/internal/testenv"
)

// at returns a script under a clock that stands still.
func at(t *testing.T, s script, micros int64) script {
	t.Helper()
	const call = "redis.call('TIME')"
	if strings.Count(s.text, call) != 1 {
		t.Fatalf("the script reads the clock %d times, want once", strings.Count(s.text, call))
	}
	return newScript(strings.Replace(s.text, call, fmt.Sprintf("{'%d', '%d'}", micros/1e6, micros%1e6), 1))
}

// The clock of Redis may be set back, and Redis may forget the last fence; only
// both together, and no client that remembers, would be too much.
func TestFencesRiseWhateverTheClockDoes(t *testing.T) {
	server := testenv.Redis(t)
	l, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const noon = 1_795_166_651_598_985
	fence := func(micros int64) uint64 {
		t.Helper()
		r, err := l.newRequest("job")
		if err != nil {
			t.Fatal(err)
		}
		reply, err := l.eval(context.Background(), at(t, acquireScript, micros), r.keys, r.text, l.ttlText, l.seenText(), "")
		if err != nil {
			t.Fatal(err)
		}
		v, err := parseValue(reply + " " + r.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.release(); err != nil {
			t.Fatal(err)
		}
		return v.fence
	}
	for i, step := range []struct {
		clock int64
		want  uint64
		then  func()
	}{
		{noon, noon, nil},
		{noon + 5, noon + 5, nil},
		{noon + 5, noon + 6, nil}, // twice in a microsecond
		{noon - 3_600_000_000, noon + 7, nil},
		{noon - 3_600_000_000, noon + 8, func() { server.CLI("FLUSHALL"); l.see(noon + 8) }},
		{noon - 3_600_000_000, noon + 9, func() { server.CLI("FLUSHALL"); l.seen.Store(0) }},
		{noon + 10, noon + 10, nil}, // nothing is remembered, and the clock is right
	} {
		if got := fence(step.clock); got != step.want {
			t.Errorf("step %d: fence %d, want %d", i, got, step.want)
		}
		if step.then != nil {
			step.then()
		}
	}
}

// A waiter that nobody can tell is passed over, and one that has died after it
// was told stands in the way for a third of its TTL only.
func TestReleasePassesOverTheDead(t *testing.T) {
	server := testenv.Redis(t)
	l, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	requests := make([]*request, 3)
	for i := range requests {
		if requests[i], err = l.newRequest("job"); err != nil {
			t.Fatal(err)
		}
	}
	holder, dead, deaf := requests[0], requests[1], requests[2]
	if a, err := holder.ask(t.Context(), false); err != nil || !a.granted {
		t.Fatalf("ask: %+v, %v", a, err)
	}
	for _, r := range []*request{dead, deaf} {
		if a, err := r.ask(t.Context(), true); err != nil || a.granted { // though nobody listens
			t.Fatalf("ask: %+v, %v", a, err)
		}
	}
	if n := server.CLI("ZCARD", "oid:lock:{job}:line"); n != "2" {
		t.Fatalf("%s stand in line, want 2", n)
	}
	if had, _, err := holder.release(); err != nil || !had {
		t.Fatalf("release: %v, %v", had, err)
	}
	if s, err := l.Status(t.Context(), "job"); err != nil || s.Held {
		t.Errorf("after everybody was passed over: %+v, %v", s, err)
	}

	l.deaf = "1" // in a cluster nobody knows who listens
	_, _ = holder.ask(t.Context(), false)
	_, _ = dead.ask(t.Context(), true)
	if had, _, err := holder.release(); err != nil || !had {
		t.Fatalf("release: %v, %v", had, err)
	}
	s, err := l.Status(t.Context(), "job")
	if err != nil || s.Owner != dead.owner || s.TTL > l.ttl/3 {
		t.Errorf("handed to the dead: %+v, %v; want it for %v", s, err, l.ttl/3)
	}
}

func FuzzParseValue(f *testing.F) {
	f.Add("1795166651598985 10.0.0.7:8080:1795166651598985:4711/507f1f77bcf86cd799439011")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseValue(text)
		if err != nil {
			return
		}
		if again, err := parseValue(v.String()); err != nil || again != v {
			t.Errorf("%q is read as %v, and that as %v, %v", text, v, again, err)
		}
	})
}

// A reply to another request must not be taken for the reply to this one.
func TestStaleReplies(t *testing.T) {
	server := testenv.Redis(t)
	inner, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr}, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	c := &outOfStep{Client: inner}
	l, err := New(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c.on.Store(true)
	for range 5 {
		if lease, err := l.TryAcquire(t.Context(), "job"); err == nil {
			t.Fatalf("a lease with fence %d from the reply to another request", lease.Fence())
		}
	}
}

// outOfStep is a client that returns each reply to the request after its own.
type outOfStep struct {
	rueidis.Client
	on atomic.Bool

	mu   sync.Mutex
	last *rueidis.RedisResult
}

func (c *outOfStep) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	result := c.Client.Do(ctx, cmd)
	if !c.on.Load() {
		return result
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.last
	c.last = &result
	if last == nil {
		return result
	}
	return *last
}
