package redislock_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// commands returns how many commands Redis has carried out, those of scripts
// included, since it was asked before.
func commands(server *testenv.RedisServer) (n int) {
	for line := range strings.Lines(server.CLI("INFO", "commandstats")) {
		name, rest, _ := strings.Cut(line, ":calls=")
		count, _, _ := strings.Cut(rest, ",")
		if i, err := strconv.Atoi(count); err == nil && name != "cmdstat_info" && name != "cmdstat_config|resetstat" && name != "cmdstat_ping" {
			n += i
		}
	}
	server.CLI("CONFIG", "RESETSTAT")
	return n
}

// Taking and releasing a lock for which nobody waits costs six commands.
func TestCommandsOfAnUncontendedLock(t *testing.T) {
	server := testenv.Redis(t)
	l := open(t, server.URL(), 0)
	cycle := func() {
		lease, err := l.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
	}
	cycle() // Redis learns the scripts
	commands(server)
	const n = 10
	for range n {
		cycle()
	}
	if got := commands(server); got/n > 6 { // Redis 6.2 also counts CONFIG RESETSTAT
		t.Errorf("%d commands for %d locks, want 6 each", got, n)
	}
}

// What a lock costs does not depend on how many wait for it.
func TestCommandsWithManyWaiters(t *testing.T) {
	cost := func(waiters int) float64 {
		server := testenv.Redis(t)
		l := open(t, server.URL(), 0)
		lease, err := l.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		for range waiters {
			go func() {
				lease, err := l.Acquire(t.Context(), "job", nil)
				if err == nil {
					time.Sleep(time.Millisecond)
					err = lease.Release()
				}
				done <- err
			}()
		}
		until(t, "waiters", func() bool {
			s, err := l.Status(t.Context(), "job")
			return err == nil && s.Waiters == waiters
		})
		commands(server)
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
		for range waiters {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		return float64(commands(server)) / float64(waiters)
	}
	few, many := cost(4), cost(64)
	t.Logf("%.1f commands each with 4 waiters, %.1f with 64", few, many)
	if many > 1.5*few {
		t.Errorf("%.1f commands each with 64 waiters, %.1f with 4", many, few)
	}
}
