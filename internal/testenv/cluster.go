package testenv

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// RedisCluster starts a Redis Cluster of three primaries, each with so many
// replicas. The primaries come first. A replica takes over when its primary is gone
// for a second; without replicas none is taken for gone that a slow disk holds up. args are
// further arguments of each server.
func RedisCluster(t testing.TB, replicas int, args ...string) []*RedisServer {
	t.Helper()
	Long(t, "starts a Redis Cluster")
	RedisKnows(t, "cluster-port")
	const primaries = 3
	timeout := "1000"
	if replicas == 0 {
		timeout = "15000" // as by default
	}
	var nodes []*RedisServer
	create := []string{"--cluster", "create"}
	for range primaries * (1 + replicas) {
		n := Redis(t, append([]string{
			"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(FreePort(t)),
			"--cluster-node-timeout", timeout, "--repl-diskless-sync-delay", "0",
		}, args...)...)
		nodes = append(nodes, n)
		create = append(create, n.Addr)
	}
	create = append(create, "--cluster-replicas", strconv.Itoa(replicas), "--cluster-yes")
	Run(t, exec.Command("redis-cli", create...))
	for i, n := range nodes {
		n.Await("cluster_state:ok", "CLUSTER", "INFO")
		n.Await(fmt.Sprintf("cluster_known_nodes:%d", len(nodes)), "CLUSTER", "INFO")
		if i >= primaries {
			n.Await("connected", "ROLE")
		}
	}
	return nodes
}

// ClusterURL returns the URL by which a client finds all nodes of a Cluster.
func ClusterURL(nodes []*RedisServer) string {
	var others []string
	for _, n := range nodes[1:] {
		others = append(others, "addr="+n.Addr)
	}
	return nodes[0].URL() + "?" + strings.Join(others, "&")
}

// MoveSlot moves the slot of a key, with all keys in it, from one primary to another
// while clients use it.
func MoveSlot(t testing.TB, from, to *RedisServer, key string) {
	t.Helper()
	slot := from.CLI("CLUSTER", "KEYSLOT", key)
	source, target := from.CLI("CLUSTER", "MYID"), to.CLI("CLUSTER", "MYID")
	to.CLI("CLUSTER", "SETSLOT", slot, "IMPORTING", source)
	from.CLI("CLUSTER", "SETSLOT", slot, "MIGRATING", target)
	host, port, _ := strings.Cut(to.Addr, ":")
	for {
		keys := strings.Fields(from.CLI("CLUSTER", "GETKEYSINSLOT", slot, "100"))
		if len(keys) == 0 {
			break
		}
		from.CLI(append([]string{"MIGRATE", host, port, "", "0", "5000", "KEYS"}, keys...)...)
	}
	to.CLI("CLUSTER", "SETSLOT", slot, "NODE", target)
	from.CLI("CLUSTER", "SETSLOT", slot, "NODE", target)
}
