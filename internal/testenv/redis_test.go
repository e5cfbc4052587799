package testenv_test

import (
	"errors"
	"strings"
	"testing"

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
	nodes := testenv.RedisCluster(t)
	if got := strings.Count(nodes[0].CLI("CLUSTER", "NODES"), "master"); got != 3 {
		t.Errorf("%d primaries, want 3", got)
	}
}

func TestSentinelFailsOver(t *testing.T) {
	set := testenv.RedisSentinel(t)
	set.Primary.Kill()
	testenv.Await(t, "failover", func() error {
		role, err := set.Replica.Try("ROLE")
		if err == nil && !strings.HasPrefix(role, "master") {
			err = errors.New(role)
		}
		return err
	})
}
