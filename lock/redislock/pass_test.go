package redislock

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/lock"
)

// queued returns a request of l that waits for a lock and can be passed it, but does not
// ask by itself.
func queued(t *testing.T, l *Locker) *request {
	t.Helper()
	r := waiters(t, l, 1)[0]
	l.queue.join(r)
	l.queue.see(r, value{})
	t.Cleanup(r.leave)
	return r
}

// A release passes the lock on to the first waiter if that is of the same process, with
// the next fence, which is remembered. The others keep their places.
func TestReleasePassesTheLockOn(t *testing.T) {
	server, l := opened(t)
	lease, err := l.TryAcquire(t.Context(), "job", &lock.AcquireOptions{Command: "first"})
	if err != nil {
		t.Fatal(err)
	}
	first, second := queued(t, l), queued(t, l)
	first.Options.Command = "second"
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	s, err := l.Status(t.Context(), "job")
	if err != nil || s.Owner != first.Owner || s.Fence != lease.Fence()+1 || s.Waiters != 1 || s.Holder.Command != "second" {
		t.Errorf("after the release: %+v, %v; want the first waiter with fence %d", s, err, lease.Fence()+1)
	}
	if heard := server.CLI("GET", first.keys[2]); !strings.HasPrefix(heard, strconv.FormatUint(s.Fence, 10)+" ") {
		t.Errorf("Redis remembers %q, want fence %d", heard, s.Fence)
	}
	for _, key := range first.keys {
		if server.CLI("PTTL", key) == "-1" {
			t.Errorf("%s has no TTL", key)
		}
	}
	if len(first.wake) != 1 || len(second.wake) != 0 {
		t.Errorf("%d hints for the first waiter, %d for the second", len(first.wake), len(second.wake))
	}
	calls := commandCount(server.CLI("INFO", "commandstats"), "evalsha")
	a, err := first.ask(t.Context())
	if err != nil || !a.granted || a.fence != s.Fence || a.sent.UnixMicro() != s.Since.UnixMicro() {
		t.Errorf("the first waiter: %+v, %v; want fence %d and the time of the release", a, err, s.Fence)
	}
	if commandCount(server.CLI("INFO", "commandstats"), "evalsha") != calls {
		t.Error("the first waiter has asked Redis")
	}
}

func commandCount(stats, command string) string {
	_, rest, _ := strings.Cut(stats, "cmdstat_"+command+":calls=")
	n, _, _ := strings.Cut(rest, ",")
	return n
}

// A lock that was passed on long ago may be lost: the waiter asks, as it always may.
func TestLockPassedOnLongAgo(t *testing.T) {
	_, l := opened(t)
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := queued(t, l)
	r.passed.Store(&grant{lease.Fence() + 1, time.Now().Add(-r.try())})
	if a, err := r.ask(t.Context()); err != nil || a.granted {
		t.Errorf("%+v, %v; want a refusal: another has the lock", a, err)
	}
}

// Where the first waiter is of another process, the lock is reserved for it.
func TestReleasePassesNothingOverTheFirst(t *testing.T) {
	server, l := opened(t)
	other, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	first, own := queued(t, other), queued(t, l)
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	var held *lock.HeldError
	if _, err := l.TryAcquire(t.Context(), "job", nil); !errors.As(err, &held) || held.Status.Owner != first.Owner || own.passed.Load() != nil {
		t.Errorf("after the release: %v; want it reserved for %v", err, first.Owner)
	}
}

// mute is a driver whose requests fail.
type mute struct{ Driver }

func (mute) EvalSHA(context.Context, string, []string, []string) (string, error) {
	return "", errors.New("no reply")
}

// A waiter asks if a release that named it got no reply: it may have the lock.
func TestReleaseWithoutReplyWakesTheNext(t *testing.T) {
	_, l := opened(t)
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := queued(t, l)
	l.driver = mute{l.driver}
	if err := lease.Release(); err == nil {
		t.Error("released without a reply")
	}
	if len(r.wake) != 1 {
		t.Error("the waiter got no hint")
	}
}

// What follows a request that was given up shares its connection, and so cannot come to
// Redis before it.
func TestRequestThatWasGivenUpIsNotOvertaken(t *testing.T) {
	_, l := opened(t)
	d := l.driver.(*rueidisDriver)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Eval(ctx, "return ''", nil, nil); !errors.Is(err, context.Canceled) || d.busy.Load() != 1 {
		t.Errorf("%v, %d requests on their way; want one that was given up", err, d.busy.Load())
	}
}

// While somebody waits, the fence of every grant is remembered, also when the lock
// itself expires, and whatever the clock shows.
func TestFenceOfAWaiterIsRemembered(t *testing.T) {
	server, l := opened(t)
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	first := waiters(t, l, 2)[0]
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	a, err := first.ask(t.Context())
	if err != nil || !a.granted {
		t.Fatalf("the first waiter: %+v, %v", a, err)
	}
	server.CLI("DEL", first.keys[0]) // as if it had expired
	l.seen.Store(0)
	if got := fenceAt1970(t, l); got != a.fence+1 {
		t.Errorf("the next fence is %d, want %d", got, a.fence+1)
	}
}

// A program that never asks twice at once has one connection.
func TestOneConnectionUntilRequestsMeet(t *testing.T) {
	server, l := opened(t)
	connections := func() string {
		_, rest, _ := strings.Cut(server.CLI("INFO", "stats"), "total_connections_received:")
		n, _, _ := strings.Cut(rest, "\r\n")
		return n
	}
	cycle := func() {
		lease, err := l.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := strconv.Atoi(connections())
	cycle()
	if now, _ := strconv.Atoi(connections()); now != before+1 { // that of this question
		t.Errorf("%d more connections for a request that is alone", now-before-1)
	}
	l.driver.(*rueidisDriver).met.Store(true)
	cycle()
	if now, _ := strconv.Atoi(connections()); now != before+3 {
		t.Errorf("%d more connections after two requests have met, want 1", now-before-2)
	}
}
