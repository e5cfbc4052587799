//go:build unix

package redislock_test

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// A lock needs the answer of one node of a cluster, that of its slot. A client that
// starts while others are gone or do not answer gets it.
func TestOpenClusterWithoutSomeNodes(t *testing.T) {
	t.Parallel()
	nodes := testenv.RedisCluster(t, 1)
	for _, n := range nodes {
		n.CLI("CONFIG", "SET", "cluster-require-full-coverage", "no")
	}
	name := ""
	for i := 0; name == ""; i++ {
		try := "job-" + strconv.Itoa(i)
		slot, err := strconv.Atoi(nodes[0].CLI("CLUSTER", "KEYSLOT", "oid:lock:{"+try+"}"))
		if err != nil {
			t.Fatal(err)
		}
		if slot > 6000 && slot < 10_000 { // the second third of the slots is with the second primary
			name = try
		}
	}
	goOn := func() {}
	for _, test := range []struct {
		name   string
		hinder func()
	}{
		{"a replica does not answer", func() { pauseServer(t, nodes[3]) }},
		{"a replica is gone", nodes[4].Kill},
		{"another primary does not answer", func() { goOn = pauseServer(t, nodes[2]) }},
		// Without most of its primaries a cluster answers nobody.
		{"another primary is gone", func() { goOn(); nodes[0].Kill() }},
	} {
		test.hinder()
		began := time.Now()
		l := open(t, testenv.ClusterURL(nodes), 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		lease, err := l.Acquire(ctx, name, nil)
		cancel()
		t.Logf("%s: %v after %v", test.name, err, time.Since(began))
		if err != nil {
			t.Errorf("%s: %v, want the lock", test.name, err)
			continue
		}
		if err := lease.Release(); err != nil {
			t.Errorf("%s: release: %v", test.name, err)
		}
	}
}

// pauseServer stops a server until the test ends or goOn is called: it keeps its
// connections and answers nothing.
func pauseServer(t *testing.T, s *testenv.RedisServer) (goOn func()) {
	t.Helper()
	p, err := os.FindProcess(s.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn = func() { _ = p.Signal(syscall.SIGCONT) }
	t.Cleanup(goOn)
	return goOn
}
