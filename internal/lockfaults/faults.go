package lockfaults

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// Fault is something that happens to the clients of a lock.
type Fault struct {
	Name string
	// CutOff says that a holder could not reach Redis, which went on.
	CutOff bool

	run func(l *lab)
}

// wait is how long workers wait for the lock each time.
const wait = 3 * TTL

// Faults returns all faults. In each of them one worker, the holder, has the lock
// for as long as it may, and two others wait for it when the fault comes.
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
		{"none", false, standalone(nil, func(*lab, *testenv.Proxy) {})},
		{"kill -9 of Redis, start, AOF always", false, kill("--appendonly", "yes", "--appendfsync", "always")},
		{"kill -9 of Redis, start, AOF everysec", false, kill("--appendonly", "yes", "--appendfsync", "everysec")},
		{"kill -9 of Redis, start, nothing on disk", false, kill()},
		{"FLUSHALL", false, command("FLUSHALL")},
		{"SCRIPT FLUSH", false, command("SCRIPT", "FLUSH")},
		{"CLIENT KILL of all", false, standalone(nil, func(l *lab, _ *testenv.Proxy) {
			l.server.CLI("CLIENT", "KILL", "TYPE", "normal")
			l.server.CLI("CLIENT", "KILL", "TYPE", "pubsub")
		})},
		{"CLIENT PAUSE for 1.5 TTL", false, standalone(nil, func(l *lab, _ *testenv.Proxy) {
			l.server.CLI("CLIENT", "PAUSE", "1500", "ALL")
			time.Sleep(3 * TTL / 2)
		})},
		{"primary lost with writes its replica never had", false, failover},
		{"holder stopped (SIGSTOP) for 2 TTL", false, standalone(nil, func(l *lab, _ *testenv.Proxy) {
			l.freeze(l.workers[0], 2*TTL)
		})},
		{"holder killed (kill -9)", false, standalone(nil, func(l *lab, _ *testenv.Proxy) { l.kill(l.workers[0]) })},
		{"first waiter in line killed (kill -9)", false, standalone(nil, func(l *lab, _ *testenv.Proxy) {
			l.kill(l.workers[1])
			l.workers[0].stdin.Close() // the holder releases and ends
		})},
		{"reply to the acquire lost with its connection", false, lostReply},
		{"a reply to the holder swallowed", false, proxied(func(p *testenv.Proxy) { p.Swallow(1, false) })},
		{"replies of the holder delayed by 0.8 TTL", false, proxied(func(p *testenv.Proxy) { p.Delay(4 * TTL / 5) })},
		{"holder cut off, both directions", true, proxied(func(p *testenv.Proxy) { p.Cut(true, true) })},
		{"holder cut off, its requests only", true, proxied(func(p *testenv.Proxy) { p.Cut(true, false) })},
		{"holder cut off, its replies only", true, proxied(func(p *testenv.Proxy) { p.Cut(false, true) })},
	}
}

// standalone returns what runs a fault on one redis-server with further
// arguments. The holder is connected through the proxy.
func standalone(args []string, harm func(*lab, *testenv.Proxy)) func(*lab) {
	return func(l *lab) {
		l.server = testenv.Redis(l.t, args...)
		p := testenv.NewProxy(l.t, l.server.Addr)
		l.holds(l.start("holder", p.URL(), 0, wait))
		l.start("waiter 1", l.server.URL(), TTL/20, wait)
		time.Sleep(TTL / 10) // so that the first is the first in line
		l.start("waiter 2", l.server.URL(), TTL/20, wait)
		time.Sleep(TTL / 2)
		harm(l, p)
		time.Sleep(5 * TTL / 2)
	}
}

// lostReply loses the first reply after the connection of a worker that asks for
// a lock which is free.
func lostReply(l *lab) {
	l.server = testenv.Redis(l.t)
	p := testenv.NewProxy(l.t, l.server.Addr)
	l.holds(l.start("warm", l.server.URL(), TTL/20, wait))
	l.stop() // and the lock is free
	l.workers = nil
	// Scripts are known now, so that the next reply to an EVALSHA is the lock.
	w := l.prepare("holder", p.URL(), 0, wait)
	p.Swallow(1, true)
	w.begin()
	l.start("waiter 1", l.server.URL(), TTL/20, wait)
	time.Sleep(3 * TTL)
}

// failover loses a primary together with the lock that was taken there.
func failover(l *lab) {
	set := testenv.RedisSentinel(l.t)
	l.server = set.Replica
	replica := set.Replica.PID()
	signal := func(s syscall.Signal) {
		if err := syscall.Kill(replica, s); err != nil {
			l.t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	set.Primary.CLI("CLIENT", "KILL", "TYPE", "replica") // or the writes would wait in the socket
	l.holds(l.start("holder", set.URL(), 0, wait))
	l.start("waiter 1", set.URL(), TTL/20, 10*TTL)
	l.start("waiter 2", set.URL(), TTL/20, 10*TTL)
	set.Primary.Kill()
	signal(syscall.SIGCONT)
	testenv.Await(l.t, "failover", func() error {
		role, err := set.Replica.Try("ROLE") // it hangs up when it becomes the primary
		if err == nil && !strings.HasPrefix(role, "master") {
			err = errors.New(role)
		}
		return err
	})
	time.Sleep(4 * TTL)
}

// Run does a fault to a subject and returns what happened.
func (f Fault) Run(t testing.TB, s Subject) Report {
	t.Helper()
	l := &lab{t: t, subject: s, changed: make(chan struct{})}
	f.run(l)
	return l.judge()
}
