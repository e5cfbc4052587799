package lockfaults

import (
	"fmt"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// Fault is something that happens to the clients or the server of a lock.
type Fault struct {
	Name string
	// OneHolder: the server remembers every lease, so there must never be two holders.
	OneHolder bool
	// Ordinary: nothing fails, so every worker must get the lock and keep it.
	Ordinary bool
	// ClockBack: the clock of Redis is set back while nothing remembers the last fence, so a
	// new client may get a lower fence.
	ClockBack bool

	run func(l *lab)
}

// wait is how long a worker waits for the lock each time.
const wait = 3 * TTL

// Faults returns all faults of Redis and its clients. Unless a fault does it differently,
// three workers run: one, the holder, holds the lock as long as it can, and two others wait
// for the lock when the fault happens.
func Faults() []Fault {
	kill := func(args ...string) func(*lab) {
		return standalone(args, func(l *lab, _ *testenv.Proxy) {
			l.server.Kill()
			time.Sleep(TTL / 5)
			l.server.Start()
		})
	}
	command := func(args ...string) func(*lab) {
		return standalone(nil, func(l *lab, _ *testenv.Proxy) { l.server.CLI(args...) })
	}
	proxied := func(harm func(*testenv.Proxy)) func(*lab) {
		return standalone(nil, func(_ *lab, p *testenv.Proxy) {
			harm(p)
			time.Sleep(5 * TTL / 2)
			p.Heal()
		})
	}
	return []Fault{
		{Name: "none", run: standalone(nil, func(*lab, *testenv.Proxy) {})},
		{Name: "ordinary: second in the queue, work of 2.5 TTL", Ordinary: true, run: func(l *lab) {
			l.server = testenv.Redis(l.t)
			l.longWork(l.server.URL())
		}},
		{Name: "ordinary: fifty workers through one lock", Ordinary: true, run: fifty},
		{Name: "clock of the holder's host stepped 60 s ahead, then 120 s back", Ordinary: true, run: steppedClock},
		{Name: "kill -9 of Redis, start, AOF always", run: kill("--appendonly", "yes", "--appendfsync", "always")},
		{Name: "kill -9 of Redis, start, AOF everysec", run: kill("--appendonly", "yes", "--appendfsync", "everysec")},
		{Name: "kill -9 of Redis, start, nothing on disk", run: kill()},
		{Name: "FLUSHALL", run: command("FLUSHALL")},
		{Name: "SCRIPT FLUSH", run: command("SCRIPT", "FLUSH")},
		{Name: "CLIENT KILL of all", run: standalone(nil, func(l *lab, _ *testenv.Proxy) {
			l.server.CLI("CLIENT", "KILL", "TYPE", "normal")
			l.server.CLI("CLIENT", "KILL", "TYPE", "pubsub")
		})},
		{Name: "CLIENT PAUSE for 1.5 TTL", run: standalone(nil, func(l *lab, _ *testenv.Proxy) {
			l.server.CLI("CLIENT", "PAUSE", "1500", "ALL")
			time.Sleep(3 * TTL / 2)
		})},
		{Name: "Sentinel: primary lost, replica in step", run: sentinelFailover(0)},
		{Name: "Sentinel: primary lost with writes its replica never had", run: lostWrites},
		{Name: "Sentinel: primary lost, replica's clock 60 s ahead", run: sentinelFailover(time.Minute)},
		{Name: "Sentinel: primary lost, replica's clock 60 s behind", run: sentinelFailover(-time.Minute)},
		{Name: "the same, and a new client after 2 TTL without any", ClockBack: true, run: newcomer},
		{Name: "Cluster: slot moved to and fro under load", run: slotMoved},
		{Name: "Cluster: primary lost under load", run: clusterFailover},
		{Name: "holder stopped (SIGSTOP) for 2 TTL", run: standalone(nil, func(l *lab, _ *testenv.Proxy) {
			l.freeze(l.workers[0], func() {})
		})},
		{Name: "first waiter stopped (SIGSTOP) across a handover", run: standalone(nil, func(l *lab, _ *testenv.Proxy) {
			l.freeze(l.workers[1], func() { l.workers[0].stdin.Close() }) // the holder releases and ends
		})},
		{Name: "holder killed (kill -9), waiters on its host", run: standalone(nil, func(l *lab, _ *testenv.Proxy) { l.kill(l.workers[0]) })},
		{Name: "first waiter in the queue killed (kill -9)", run: standalone(nil, func(l *lab, _ *testenv.Proxy) {
			l.kill(l.workers[1])
			l.workers[0].stdin.Close()
		})},
		{Name: "twenty waiters of one process vanished (SIGSTOP), thirty wait behind them", run: vanished},
		{Name: "reply to the acquire lost with its connection", run: lostReply},
		{Name: "a reply to the holder swallowed", run: proxied(func(p *testenv.Proxy) { p.SwallowReply() })},
		{Name: "replies of the holder delayed by 0.8 TTL", run: proxied(func(p *testenv.Proxy) { p.Delay(4 * TTL / 5) })},
		{Name: "holder cut off, both directions", OneHolder: true, run: proxied(func(p *testenv.Proxy) { p.Cut(true, true) })},
		{Name: "holder cut off, its requests only", OneHolder: true, run: proxied(func(p *testenv.Proxy) { p.Cut(true, false) })},
		{Name: "holder cut off, its replies only", OneHolder: true, run: proxied(func(p *testenv.Proxy) { p.Cut(false, true) })},
	}
}

// standalone returns a fault on one redis-server with additional arguments. The holder is
// connected through a proxy.
func standalone(args []string, harm func(*lab, *testenv.Proxy)) func(*lab) {
	return func(l *lab) {
		l.server = testenv.Redis(l.t, args...)
		p := testenv.NewProxy(l.t, l.server.Addr)
		l.contend(p.URL(), l.server.URL(), func() { harm(l, p) })
	}
}

// contend starts the holder, which connects to the server by a URL of its own, and two
// waiters. Then it calls harm.
func (l *lab) contend(ofHolder, ofWaiters string, harm func()) {
	l.t.Helper()
	l.holds(l.start("holder", ofHolder, 0, wait))
	l.start("waiter 1", ofWaiters, TTL/20, wait)
	time.Sleep(TTL / 10) // so that waiter 1 is the first in the queue
	l.start("waiter 2", ofWaiters, TTL/20, wait)
	time.Sleep(TTL / 2)
	l.startLate(ofWaiters)
	harm()
	time.Sleep(5 * TTL / 2)
}

// lostReply drops the first reply to a worker after it has connected: the reply to its
// request for a lock that is free.
func lostReply(l *lab) {
	l.server = testenv.Redis(l.t)
	p := testenv.NewProxy(l.t, l.server.Addr)
	l.holds(l.start("warm", l.server.URL(), TTL/20, wait))
	l.stop() // now the lock is free
	l.workers = nil
	// Redis knows the script now, so the next reply to EVALSHA grants the lock.
	w := l.prepare("holder", order{URL: p.URL(), Wait: wait})
	p.LoseAnswer(1)
	w.begin()
	l.start("waiter 1", l.server.URL(), TTL/20, wait)
	time.Sleep(3 * TTL)
}

// longWork makes two workers hold the lock, one after the other, for longer than the TTL. The TTL
// is so long that a busy machine renews in time.
func (l *lab) longWork(url string) {
	l.t.Helper()
	l.began = time.Now()
	l.ttl = 3 * TTL
	first := l.crowd("first", url, 1, 1, 5*l.ttl/2)
	second := l.crowd("second", url, 1, 1, 5*l.ttl/2)
	l.served(first, 1)
	l.served(second, 1)
}

// fifty starts five processes of ten workers each. Every worker takes the lock twice.
func fifty(l *lab) {
	l.server = testenv.Redis(l.t)
	l.began = time.Now()
	var all []*worker
	for i := range 5 {
		all = append(all, l.crowd(fmt.Sprintf("process %d", i+1), l.server.URL(), 10, 2, 10*time.Millisecond))
	}
	for _, w := range all {
		l.served(w, 20)
	}
}

// vanished stops a process of twenty waiters for good. Thirty others, which wait behind them,
// then take the lock for 20 ms each.
func vanished(l *lab) {
	l.server = testenv.Redis(l.t)
	holder := l.start("holder", l.server.URL(), 0, wait)
	l.holds(holder)
	gone := l.crowd("vanished", l.server.URL(), 20, 0, TTL)
	time.Sleep(TTL / 5) // so that their requests have arrived
	living := l.crowd("living", l.server.URL(), 30, 1, 20*time.Millisecond)
	time.Sleep(TTL / 5)
	gone.signal(l.t, stopSignal)
	time.Sleep(TTL / 5)
	l.began = time.Now()
	holder.stdin.Close()
	l.served(living, 30)
	l.kill(gone)
}

// Run injects the fault while workers use the subject, and returns what happened.
func (f Fault) Run(t testing.TB, s Subject) Report {
	t.Helper()
	l := &lab{t: t, subject: s, ttl: TTL, changed: make(chan struct{})}
	stalls := watchStalls()
	f.run(l)
	r := l.judge()
	r.Stall = stalls()
	return r
}
