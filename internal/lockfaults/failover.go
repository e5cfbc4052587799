package lockfaults

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// promote kills the primary, calls then, and waits until the replica has become the primary.
func (l *lab) promote(url string, primary, replica *testenv.RedisServer, then ...func()) {
	l.t.Helper()
	l.startLate(url)
	from := time.Now()
	primary.Kill()
	for _, f := range then {
		f()
	}
	replica.Await("master", "ROLE")
	l.outage = time.Since(from)
}

// sentinelFailover returns a fault in which a primary is lost whose replica has all its
// writes. The clock of the replica is ahead by skew. The TTL is longer than the failover, so
// that leases have not ended after it.
func sentinelFailover(skew time.Duration) func(*lab) {
	return func(l *lab) {
		l.ttl = 5 * TTL
		set := testenv.RedisSentinel(l.t, skew)
		l.server = set.Replica
		l.holds(l.start("holder", set.URL(), 0, 3*l.ttl))
		l.start("waiter 1", set.URL(), TTL/20, 3*l.ttl)
		l.start("waiter 2", set.URL(), TTL/20, 3*l.ttl)
		time.Sleep(TTL / 2)
		l.inStep(set.Primary, set.Replica)
		l.promote(set.URL(), set.Primary, set.Replica)
		time.Sleep(l.ttl)
		l.workers[0].stdin.Close()
		time.Sleep(l.ttl / 2)
	}
}

// inStep waits until the replica has all writes of the primary.
func (l *lab) inStep(primary, replica *testenv.RedisServer) {
	l.t.Helper()
	testenv.Await(l.t, "replica in step", func() error {
		if have, want := offset(replica, "slave_repl_offset"), offset(primary, "master_repl_offset"); have < want {
			return fmt.Errorf("offset %d of %d", have, want)
		}
		return nil
	})
}

// offset returns how many bytes of the replication stream a server has.
func offset(s *testenv.RedisServer, field string) (n int) {
	_, rest, _ := strings.Cut(s.CLI("INFO", "replication"), field+":")
	_, _ = fmt.Sscan(rest, &n)
	return n
}

// newcomer loses a primary to a replica whose clock is behind. A new client takes the lock
// when nothing remembers its last fence any more.
func newcomer(l *lab) {
	set := testenv.RedisSentinel(l.t, -time.Minute)
	l.server = set.Replica
	w := l.start("holder", set.URL(), 0, wait)
	l.holds(w)
	w.stdin.Close()
	l.await("holder has ended", is("holder", closed))
	time.Sleep(2 * TTL)
	l.promote(set.URL(), set.Primary, set.Replica)
	set.Switched(l.t)
	l.unwanted = time.Now()
	l.start("newcomer", set.URL(), TTL/20, 10*TTL)
	l.await("newcomer has the lock", is("newcomer", acquired))
	time.Sleep(TTL)
}

// lostWrites loses a primary whose replica does not have the lock that was taken there.
func lostWrites(l *lab) {
	set := testenv.RedisSentinel(l.t, 0)
	l.server = set.Replica
	replica := testenv.Must(os.FindProcess(set.Replica.PID()))(l.t)
	signal := func(s os.Signal) {
		testenv.NoError(l.t, replica.Signal(s))
	}
	signal(stopSignal)
	set.Primary.CLI("CLIENT", "KILL", "TYPE", "replica") // otherwise the replica would read the writes from its socket later
	l.holds(l.start("holder", set.URL(), 0, wait))
	l.start("waiter 1", set.URL(), TTL/20, 10*TTL)
	l.start("waiter 2", set.URL(), TTL/20, 10*TTL)
	l.promote(set.URL(), set.Primary, set.Replica, func() { signal(continueSignal) })
	time.Sleep(4 * TTL)
}

// key has the same Cluster slot as the keys of the lock.
const key = "{" + name + "}"

// busy starts three workers that take turns with the lock on a Cluster. It returns the index
// of the primary that has the lock.
func (l *lab) busy(nodes []*testenv.RedisServer) int {
	l.t.Helper()
	url := testenv.ClusterURL(nodes)
	for _, name := range []string{"worker 1", "worker 2", "worker 3"} {
		l.start(name, url, TTL/20, 10*TTL)
	}
	time.Sleep(TTL)
	var slot int
	_, _ = fmt.Sscan(nodes[0].CLI("CLUSTER", "KEYSLOT", key), &slot)
	return min(slot/(16384/3), 2)
}

// slotMoved moves the Cluster slot of the lock six times.
func slotMoved(l *lab) {
	l.cluster = testenv.RedisCluster(l.t, 0)
	l.server = l.cluster[0]
	at := l.busy(l.cluster)
	l.startLate(testenv.ClusterURL(l.cluster))
	for range 6 {
		next := (at + 1) % len(l.cluster)
		testenv.MoveSlot(l.t, l.cluster[at], l.cluster[next], key)
		at = next
		time.Sleep(TTL / 2)
	}
	time.Sleep(TTL)
}

// clusterFailover loses the primary that has the lock.
func clusterFailover(l *lab) {
	nodes := testenv.RedisCluster(l.t, 1)
	at := l.busy(nodes)
	primary := nodes[at]
	var replica *testenv.RedisServer
	for _, n := range nodes[3:] {
		if _, port, _ := strings.Cut(primary.Addr, ":"); strings.Contains(n.CLI("ROLE"), port) {
			replica = n
		}
	}
	nodes[at], l.server = replica, replica
	l.cluster = nodes[:3]
	l.promote(testenv.ClusterURL(l.cluster), primary, replica)
	time.Sleep(4 * TTL)
}
