package redislock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
)

// at returns a script under a clock that does not run.
func at(t *testing.T, s script, micros int64) script {
	t.Helper()
	const call = "redis.call('TIME')"
	if strings.Count(s.text, call) != 1 {
		t.Fatalf("the script reads the clock %d times, want once", strings.Count(s.text, call))
	}
	return newScript(strings.Replace(s.text, call, fmt.Sprintf("{'%d', '%d'}", micros/1e6, micros%1e6), 1))()
}

// The clock of Redis may be set back, and Redis may forget the last fence; only
// both together, and no client that remembers, would be too much. The clock is
// read only where nothing remembers the last fence.
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
		r, err := l.begin("job", nil)
		if err != nil {
			t.Fatal(err)
		}
		guess := strconv.FormatUint(l.guess(), 10)
		reply, err := l.eval(context.Background(), time.Now(), r.try(), at(t, acquireScript(), micros), r.keys, []string{"", r.value(grant{l.guess(), time.Now()}, holder.Self(r.Options)), r.ms, guess})
		if err != nil {
			t.Fatal(err)
		}
		v, err := parseValue(cmp.Or(strings.TrimPrefix(reply, "granted "), guess))
		if err != nil {
			t.Fatal(err)
		}
		l.see(v.fence)
		if _, _, err := r.release(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.calls.Done()
		return v.fence
	}
	for i, step := range []struct {
		clock int64
		want  uint64
		then  func()
	}{
		{noon, noon, nil},
		{noon + 5, noon + 1, nil},
		{noon + 5, noon + 2, nil}, // twice in a microsecond
		{noon - 3_600_000_000, noon + 3, func() { l.seen.Store(0) }},
		{noon - 3_600_000_000, noon + 4, func() { server.CLI("FLUSHALL") }},                  // Redis remembered it
		{noon - 3_600_000_000, noon + 5, func() { server.CLI("FLUSHALL"); l.see(noon + 8) }}, // this client did
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

// waiters returns n requests that wait for a lock, in this order, and whose
// process never asks again.
func waiters(t *testing.T, l *Locker, n int) (all []*request) {
	t.Helper()
	for range n {
		r, err := l.begin("job", nil)
		if err != nil {
			t.Fatal(err)
		}
		l.calls.Done() // nobody ends it
		r.wake, r.joined = make(chan struct{}, 1), true
		if a, err := r.ask(t.Context()); err != nil || a.granted {
			t.Fatalf("ask: %+v, %v", a, err)
		}
		all = append(all, r)
	}
	return all
}

// undisturbed tries up to five times: other programs may make one of them take longer
// than it should.
func undisturbed(t *testing.T, least, most time.Duration, what string, try func(t *testing.T) time.Duration) {
	t.Helper()
	var took time.Duration
	for range 5 {
		if took = try(t); took < least || took <= most || t.Failed() {
			break
		}
	}
	if took < least || took > most {
		t.Errorf("%s after %v, want %v to %v", what, took, least, most)
	}
}

// For as long as a lock is reserved for the first waiter nobody else gets it; who
// asks then gets it, though the first waiters are dead, and those that are alive
// are told to ask again.
func TestReservationIsShortAndThenForAnybody(t *testing.T) {
	undisturbed(t, 140*time.Millisecond, time.Second, "the next got the lock, which was reserved for 150 ms,", reservation)
}

// reservation returns how long the next waits for a lock that is reserved for the dead.
func reservation(t *testing.T) time.Duration {
	server := testenv.Redis(t)
	l, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	dead := waiters(t, l, 3)
	if s, err := l.Status(t.Context(), "job"); err != nil || s.Waiters != len(dead) {
		t.Errorf("%d waiters, %v; want %d", s.Waiters, err, len(dead))
	}
	released := time.Now()
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	_, err = l.TryAcquire(t.Context(), "job", nil)
	if took := time.Since(released); err == nil && took >= 150*time.Millisecond {
		return took // too late to see anything
	}
	var held *lock.HeldError
	if took := time.Since(released); took < 100*time.Millisecond && (!errors.As(err, &held) || held.Status.Held || held.Status.Owner != dead[0].Owner) {
		t.Errorf("TryAcquire after %v: %v, want it reserved for the first waiter", took, err)
	}
	if s, err := l.Status(t.Context(), "job"); err != nil || s.Held {
		t.Errorf("Status of a lock that is reserved: %+v, %v", s, err)
	}
	alive := &request{text: "alive", keys: l.keysOf("job"), wake: make(chan struct{}, 1), l: l}
	other := &request{text: "other", keys: l.keysOf("other"), wake: make(chan struct{}, 1), l: l}
	l.queue.mu.Lock()
	l.queue.waiting["alive"], l.queue.waiting["other"] = alive, other
	l.queue.mu.Unlock()
	if err := l.listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*request{alive, other} {
		select {
		case <-r.wake: // because messages come in from now on
		default:
		}
	}
	next, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(released)
	select {
	case <-alive.wake:
	case <-time.After(5 * time.Second):
		t.Error("the waiters were not told to ask again")
	}
	if len(other.wake) > 0 {
		t.Error("the waiters of another lock were told to ask")
	}
	if s, err := l.Status(t.Context(), "job"); err != nil || s.Waiters != 0 {
		t.Errorf("%d waiters after the roll call, %v; want none", s.Waiters, err)
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
	return took
}

// A holder whose first reply was lost asks again: it has the lock, with the fence
// that it had.
func TestAskingAgainFindsTheLockTaken(t *testing.T) {
	server := testenv.Redis(t)
	l, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := l.begin("job", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.calls.Done()
	var answers []answer
	for range 2 {
		a, err := r.ask(t.Context())
		if err != nil || !a.granted {
			t.Fatalf("ask: %+v, %v", a, err)
		}
		answers = append(answers, a)
	}
	if answers[0].fence != answers[1].fence {
		t.Errorf("fence %d, and then %d", answers[0].fence, answers[1].fence)
	}
}

// A late copy of the request by which a lease was granted may take the lock again
// after another holder, under a new fence. The lease is lost all the same.
func TestLateCopyOfTheRequestRevivesNoLease(t *testing.T) {
	server := testenv.Redis(t)
	l, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := l.begin("job", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.calls.Done()
	first, err := r.ask(t.Context())
	if err != nil || !first.granted {
		t.Fatalf("ask: %+v, %v", first, err)
	}
	r.fence = first.fence
	if _, err := r.Keep(); err != nil {
		t.Errorf("Keep: %v", err)
	}
	server.CLI("DEL", "oid:lock:{job}") // it has expired
	next, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
	if late, err := r.ask(t.Context()); err != nil || !late.granted || late.fence <= next.Fence() {
		t.Fatalf("late copy: %+v, %v", late, err)
	}
	if _, err := r.Keep(); !errors.Is(err, lock.ErrLost) {
		t.Errorf("Keep of the lease with the old fence: %v, want ErrLost", err)
	}
}

// The first waiter and the one last heard of belong to a process that is dead. The
// waiter between them learns of it with the end of the reservation, not at its next
// poll, which are 1 to 2 s apart.
func TestNextWaiterLearnsOfADeadProcessAtOnce(t *testing.T) {
	undisturbed(t, 140*time.Millisecond, 700*time.Millisecond, "the next waiter had the lock, which was reserved for 150 ms,", behindADeadProcess)
}

// behindADeadProcess returns how long a waiter waits between two that are dead.
func behindADeadProcess(t *testing.T) time.Duration {
	server := testenv.Redis(t)
	dead, alive := (*Locker)(nil), (*Locker)(nil)
	for _, l := range []**Locker{&dead, &alive} {
		var err error
		if *l, err = Open(t.Context(), server.URL(), nil); err != nil {
			t.Fatal(err)
		}
		defer (*l).Close()
	}
	lease, err := alive.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	waiters(t, dead, 1)
	got := make(chan time.Time, 1)
	go func() {
		defer close(got)
		next, err := alive.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Error(err)
			return
		}
		at := time.Now()
		if err := next.Release(); err != nil {
			t.Error(err)
		}
		got <- at
	}()
	testenv.Await(t, "waiter", func() error {
		if s, err := alive.Status(t.Context(), "job"); err != nil || s.Waiters != 2 {
			return fmt.Errorf("%d waiters, %w", s.Waiters, err)
		}
		return nil
	})
	waiters(t, dead, 1)
	released := time.Now()
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	return (<-got).Sub(released)
}

// The tickets that waiters keep put them back in order.
func TestTicketsKeepTheOrder(t *testing.T) {
	server := testenv.Redis(t)
	l, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	all := waiters(t, l, 3)
	server.CLI("DEL", "oid:lock:{job}:queue")
	for i := range all {
		if a, err := all[len(all)-1-i].ask(t.Context()); err != nil || a.granted {
			t.Fatalf("ask: %+v, %v", a, err)
		}
	}
	var want strings.Builder
	for _, r := range all {
		want.WriteString(l.channel + " " + r.text + "\n")
	}
	if got := server.CLI("ZRANGE", "oid:lock:{job}:queue", "0", "-1"); got != strings.TrimSpace(want.String()) {
		t.Errorf("queue\n%s\nwant\n%s", got, want.String())
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

func FuzzParseValue(f *testing.F) {
	const owner = "10.0.0.7:8080:1795166651598985:4711/507f1f77bcf86cd799439011"
	f.Add("1795166651598985")
	f.Add("1795166651598985 ! " + owner + " 30000")
	f.Add("1795166651598985 " + owner + " v2 1795166651598985 {\"host\":\"h\",\"process\":{\"boot\":\"3c1-b\",\"namespace\":4026531836,\"pid\":4711,\"ticks\":99},\"command\":\"sh -c 'a b'\",\"group\":-1}")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseValue(text)
		if err != nil || v.owner.IsZero() || v.reserved {
			return
		}
		r := request{text: v.owner.String()}
		again, err := parseValue(r.value(grant{v.fence, v.since}, v.holder))
		if err != nil || again != v {
			t.Errorf("%q is read as %+v, and that as %+v, %v", text, v, again, err)
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
	lease, err := l.TryAcquire(t.Context(), "job", nil) // Redis learns the scripts
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	c.on.Store(true)
	_, _ = l.Status(t.Context(), "job") // its reply comes twice
	for range 5 {
		if lease, err := l.TryAcquire(t.Context(), "job", nil); err == nil {
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
