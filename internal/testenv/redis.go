package testenv

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// RedisServer is a redis-server on a free port of the loopback address.
type RedisServer struct {
	// Addr is where it listens; it keeps the address when it starts again.
	Addr string

	t       testing.TB
	command []string
	process *Process
}

// Redis starts a redis-server with further arguments, which are configuration
// in the form of its command line, such as "--appendonly", "yes". It writes
// nothing to disk unless told to.
func Redis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	return startRedis(t, nil, args)
}

// startRedis starts a redis-server by way of a command, which may be empty.
func startRedis(t testing.TB, by, args []string) *RedisServer {
	t.Helper()
	for _, program := range []string{"redis-server", "redis-cli"} {
		if _, err := exec.LookPath(program); err != nil {
			Missing(t, program+" is not installed: apt-get install redis-server")
		}
	}
	const attempts = 5 // somebody else may take the port before the server does
	for i := 0; ; i++ {
		port := strconv.Itoa(FreePort(t))
		s := &RedisServer{Addr: "127.0.0.1:" + port, t: t}
		s.command = slices.Concat(by, []string{"redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--logfile", ""}, args)
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
	s.process = Start(s.t, s.command[0], s.command[1:]...)
	var ended error
	Await(s.t, "answer of redis-server", func() error {
		select {
		case <-s.process.done:
			ended = fmt.Errorf("redis-server ended: %s", s.process.Output())
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

// SentinelSet is a primary with one replica, watched by a Sentinel.
type SentinelSet struct {
	Primary, Replica, Sentinel *RedisServer
}

// SentinelMaster is the name by which a SentinelSet's Sentinel knows the primary.
const SentinelMaster = "main"

// RedisSentinel starts a primary, a replica of it whose clock is ahead by skew, and
// a Sentinel that makes the replica the primary when that is gone for half a second.
func RedisSentinel(t testing.TB, skew time.Duration) SentinelSet {
	t.Helper()
	Long(t, "starts Redis Sentinel")
	var set SentinelSet
	set.Primary = Redis(t, "--repl-diskless-sync-delay", "0")
	host, port, _ := strings.Cut(set.Primary.Addr, ":")
	set.Replica = RedisAt(t, skew, "--replicaof", host+" "+port)
	Await(t, "replica in step", func() error {
		if info := set.Replica.CLI("INFO", "replication"); !strings.Contains(info, "master_link_status:up") {
			return errors.New(info)
		}
		return nil
	})
	set.Sentinel = sentinel(t, set.Primary.Addr)
	Await(t, "Sentinel knows the replica", func() error {
		out := set.Sentinel.CLI("SENTINEL", "REPLICAS", SentinelMaster)
		if !strings.Contains(out, set.Replica.Addr) || !strings.Contains(out, "master-link-status\nok") {
			return errors.New(out)
		}
		return nil
	})
	// A Sentinel that was late by two seconds, as on a slow disk, looks at nothing for
	// half a minute, and never promotes a replica whose primary went away in that time.
	Await(t, "Sentinel is at work", func() error {
		if out := set.Sentinel.CLI("INFO", "sentinel"); !strings.Contains(out, "sentinel_tilt:0") {
			return errors.New(out)
		}
		return nil
	})
	return set
}

// URL returns the URL by which a client finds whichever is the primary.
func (s SentinelSet) URL() string { return s.Sentinel.URL() + "?master_set=" + SentinelMaster }

// Switched waits until Sentinel tells clients that the replica is the primary.
func (s SentinelSet) Switched(t testing.TB) {
	t.Helper()
	_, port, _ := strings.Cut(s.Replica.Addr, ":")
	Await(t, "Sentinel names the replica", func() error {
		if out := s.Sentinel.CLI("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SentinelMaster); !strings.Contains(out, port) {
			return errors.New(out)
		}
		return nil
	})
}
