package testenv

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// RedisServer is a redis-server on a free port of the loopback address.
type RedisServer struct {
	// Addr is where it listens; it keeps the address when it starts again.
	Addr string

	t       testing.TB
	name    string
	args    []string
	process *Process
}

// Redis starts a redis-server with further arguments, which are configuration
// in the form of its command line, such as "--appendonly", "yes". It writes
// nothing to disk unless told to.
func Redis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	for _, program := range []string{"redis-server", "redis-cli"} {
		if _, err := exec.LookPath(program); err != nil {
			Missing(t, program+" is not installed: apt-get install redis-server")
		}
	}
	const attempts = 5 // somebody else may take the port before the server does
	for i := 0; ; i++ {
		port := strconv.Itoa(FreePort(t))
		s := &RedisServer{Addr: "127.0.0.1:" + port, t: t, name: "redis-server"}
		s.args = append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--logfile", ""}, args...)
		err := s.start()
		if err == nil {
			return s
		}
		if i == attempts {
			t.Fatal(err)
		}
	}
}

// URL returns the server's URL.
func (s *RedisServer) URL() string { return "redis://" + s.Addr }

// start starts the server and waits until it answers.
func (s *RedisServer) start() error {
	s.t.Helper()
	s.process = Start(s.t, s.name, s.args...)
	var ended error
	Await(s.t, "answer of "+s.name, func() error {
		select {
		case <-s.process.done:
			ended = fmt.Errorf("%s ended: %s", s.name, s.process.Output())
			return nil
		default:
		}
		out, err := s.run("PING")
		// A server that wants a password is ready too.
		if err == nil && out != "PONG" && !strings.HasPrefix(out, "NOAUTH") {
			err = errors.New(out)
		}
		return err
	})
	return ended
}

// Start starts the server again after Kill, with the same files.
func (s *RedisServer) Start() {
	s.t.Helper()
	if err := s.start(); err != nil {
		s.t.Fatal(err)
	}
}

// Kill ends the server as kill -9 does.
func (s *RedisServer) Kill() { s.process.Stop() }

// PID returns the server's process id.
func (s *RedisServer) PID() int {
	s.t.Helper()
	_, rest, _ := strings.Cut(s.CLI("INFO", "server"), "process_id:")
	line, _, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		s.t.Fatalf("pid of redis-server: %v", err)
	}
	return pid
}

// CLI sends one command with redis-cli and returns the reply as it prints it
// for scripts. An error reply ends the test.
func (s *RedisServer) CLI(args ...string) string {
	s.t.Helper()
	out, err := s.Try(args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// Try is CLI with an error, for a server that may be about to hang up.
func (s *RedisServer) Try(args ...string) (string, error) {
	out, err := s.run(append([]string{"-e"}, args...)...)
	if err != nil {
		return "", fmt.Errorf("redis-cli %q: %w: %s", args, err, out)
	}
	return out, nil
}

func (s *RedisServer) run(args ...string) (string, error) {
	host, port, _ := strings.Cut(s.Addr, ":")
	out, err := exec.Command("redis-cli", append([]string{"-h", host, "-p", port}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// RedisCluster starts a Redis Cluster of three primaries.
func RedisCluster(t testing.TB) []*RedisServer {
	t.Helper()
	var nodes []*RedisServer
	create := []string{"--cluster", "create"}
	for range 3 {
		n := Redis(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(FreePort(t)), "--cluster-node-timeout", "2000")
		nodes = append(nodes, n)
		create = append(create, n.Addr)
	}
	if out, err := exec.Command("redis-cli", append(create, "--cluster-yes")...).CombinedOutput(); err != nil {
		t.Fatalf("create the cluster: %v\n%s", err, out)
	}
	for _, n := range nodes {
		Await(t, "state of the cluster", func() error {
			if info := n.CLI("CLUSTER", "INFO"); !strings.Contains(info, "cluster_state:ok") {
				return errors.New(info)
			}
			return nil
		})
	}
	return nodes
}

// SentinelSet is a primary with one replica, watched by a Sentinel.
type SentinelSet struct {
	Primary, Replica, Sentinel *RedisServer
}

// SentinelMaster is the name by which a SentinelSet's Sentinel knows the primary.
const SentinelMaster = "main"

// RedisSentinel starts a primary, a replica of it, and a Sentinel that makes the
// replica the primary when that is gone for half a second.
func RedisSentinel(t testing.TB) SentinelSet {
	t.Helper()
	var set SentinelSet
	set.Primary = Redis(t, "--repl-diskless-sync-delay", "0")
	host, port, _ := strings.Cut(set.Primary.Addr, ":")
	set.Replica = Redis(t, "--replicaof", host+" "+port)
	Await(t, "replica in step", func() error {
		if info := set.Replica.CLI("INFO", "replication"); !strings.Contains(info, "master_link_status:up") {
			return errors.New(info)
		}
		return nil
	})
	set.Sentinel = sentinel(t, set.Primary.Addr)
	Await(t, "Sentinel knows the replica", func() error {
		if out := set.Sentinel.CLI("SENTINEL", "REPLICAS", SentinelMaster); !strings.Contains(out, set.Replica.Addr) {
			return errors.New(out)
		}
		return nil
	})
	return set
}

// URL returns the URL by which a client finds whichever is the primary.
func (s SentinelSet) URL() string { return s.Sentinel.URL() + "?master_set=" + SentinelMaster }
