package testenv_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

func TestRedisKeepsItsFilesAndAddress(t *testing.T) {
	s := testenv.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	s.CLI("SET", "k", "v")
	s.Kill()
	s.Start()
	if got := s.CLI("GET", "k"); got != "v" {
		t.Errorf("after kill -9 and a new start k is %q, want v", got)
	}
}

func TestRedisCluster(t *testing.T) {
	nodes := testenv.RedisCluster(t, 0)
	if got := strings.Count(nodes[0].CLI("CLUSTER", "NODES"), "master"); got != 3 {
		t.Errorf("%d primaries, want 3", got)
	}
}

func TestSentinelFailsOver(t *testing.T) {
	set := testenv.RedisSentinel(t, 0)
	set.Primary.Kill()
	set.Replica.Await("master", "ROLE")
}

func TestClusterFailsOver(t *testing.T) {
	nodes := testenv.RedisCluster(t, 1)
	nodes[0].Kill()
	testenv.Await(t, "failover", func() error {
		for _, n := range nodes[3:] {
			if role := n.CLI("ROLE"); strings.HasPrefix(role, "master") {
				return nil
			}
		}
		return errors.New("no replica is a primary")
	})
}

func TestSlotMoves(t *testing.T) {
	nodes := testenv.RedisCluster(t, 0)
	nodes[0].CLI("SET", "{06S}", "v") // of slot 0
	testenv.MoveSlot(t, nodes[0], nodes[1], "{06S}")
	if got := nodes[1].CLI("GET", "{06S}"); got != "v" {
		t.Errorf("the key is %q after its slot was moved, want v", got)
	}
}

func TestRedisWithAWrongClock(t *testing.T) {
	for _, skew := range []time.Duration{-time.Minute, time.Minute} {
		s := testenv.RedisAt(t, skew)
		text, _, _ := strings.Cut(s.CLI("TIME"), "\n")
		seconds := testenv.Must(strconv.ParseInt(text, 10, 64))(t)
		if off := time.Until(time.Unix(seconds, 0)) - skew; off.Abs() > 20*time.Second {
			t.Errorf("clock ahead by %v: it is wrong by another %v", skew, off)
		}
	}
}
