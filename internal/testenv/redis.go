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
	return startRedis(t, nil, RedisProgram(t), args)
}

// startRedis starts a program by way of a command, which may be empty.
func startRedis(t testing.TB, by []string, program string, args []string) *RedisServer {
	t.Helper()
	Program(t, "redis-cli", "redis-server")
	port := strconv.Itoa(FreePort(t))
	s := &RedisServer{Addr: "127.0.0.1:" + port, t: t}
	s.command = slices.Concat(by, []string{program, "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--logfile", ""}, args)
	s.Start()
	return s
}

// URL returns the server's URL.
func (s *RedisServer) URL() string { return "redis://" + s.Addr }

// Start starts the server, or starts it again after Kill with the same files, and waits until
// it answers.
func (s *RedisServer) Start() {
	s.t.Helper()
	s.start("PONG", "NOAUTH") // a server that wants a password is ready too
}

// Reload lets the server save its data, end and start again, and waits until it loads the data.
func (s *RedisServer) Reload() {
	s.t.Helper()
	_, _ = s.Try("SHUTDOWN", "SAVE") // the server hangs up
	s.process.Stop()
	s.start("LOADING")
}

// start starts the server and waits until the reply to PING begins with one of the texts.
func (s *RedisServer) start(replies ...string) {
	s.t.Helper()
	s.process = Start(s.t, s.command[0], s.command[1:]...)
	s.process.awaitAnswer(s.t, "redis-server", func() error {
		out, err := s.run("PING")
		if err == nil && !slices.ContainsFunc(replies, func(reply string) bool { return strings.HasPrefix(out, reply) }) {
			err = errors.New(out)
		}
		return err
	})
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
	return Must(s.Try(args...))(s.t)
}

// Try is CLI with an error, for a server that may be about to hang up.
func (s *RedisServer) Try(args ...string) (string, error) {
	out, err := s.run(append([]string{"-e"}, args...)...)
	if err != nil {
		return "", fmt.Errorf("redis-cli %q: %w: %s", args, err, out)
	}
	return out, nil
}

// Await waits until the reply to a command has a text in it.
func (s *RedisServer) Await(text string, command ...string) {
	s.t.Helper()
	Await(s.t, fmt.Sprintf("%q in the reply to %q", text, command), func() error {
		out, err := s.Try(command...)
		if err == nil && !strings.Contains(out, text) {
			err = errors.New(out)
		}
		return err
	})
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
	set.Replica = RedisAt(t, skew, "--replicaof", host, port)
	set.Replica.Await("master_link_status:up", "INFO", "replication")
	set.Sentinel = sentinel(t, set.Primary.Addr)
	for _, known := range []string{set.Replica.Addr, "master-link-status\nok"} {
		set.Sentinel.Await(known, "SENTINEL", "REPLICAS", SentinelMaster)
	}
	// A Sentinel that was late by two seconds, as on a slow disk, looks at nothing for
	// half a minute, and never promotes a replica whose primary went away in that time.
	set.Sentinel.Await("sentinel_tilt:0", "INFO", "sentinel")
	return set
}

// URL returns the URL by which a client finds whichever is the primary.
func (s SentinelSet) URL() string { return s.Sentinel.URL() + "?master_set=" + SentinelMaster }

// Switched waits until Sentinel tells clients that the replica is the primary.
func (s SentinelSet) Switched(t testing.TB) {
	t.Helper()
	_, port, _ := strings.Cut(s.Replica.Addr, ":")
	s.Sentinel.Await(port, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", SentinelMaster)
}
