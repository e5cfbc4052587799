//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// lockBackends returns URLs of all kinds of places that hold locks.
func lockBackends(t *testing.T) map[string]string {
	cluster := testenv.RedisCluster(t, 0)
	return map[string]string{
		"file":     "file:" + t.TempDir(),
		"Redis":    testenv.Redis(t).URL(),
		"Cluster":  fmt.Sprintf("%s?addr=%s&addr=%s", cluster[0].URL(), cluster[1].Addr, cluster[2].Addr),
		"Sentinel": testenv.RedisSentinel(t, 0).URL(),
	}
}

// Eight commands want one lock, with work from a hundredth of the TTL to one and a
// half. They run one after the other, and each ends as it would without a lock.
// With the default TTL the longest work is longer than the time to a renewal.
func TestLockQueueOnAnOrdinaryDay(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	type queue struct {
		name, log string
		commands  []*holding
	}
	var queues []queue
	for backend, url := range lockBackends(t) {
		for _, ttl := range []time.Duration{3 * time.Second, 30 * time.Second} {
			work := []float64{0.01, 0.2, 1.5, 0.05, 1.1, 0.4, 0.1, 0.7} // TTLs
			args := []string{"report", "--locks", url}
			switch {
			case backend == "file" && ttl > 3*time.Second:
				continue
			case ttl > 3*time.Second:
				work = []float64{0.03, 0.4, 0.001, 0.001, 0.01, 0.02, 0.001, 0.01}
				args[0] = "daily-report"
			case backend != "file":
				args = append(args, "--ttl", "3s")
			}
			q := queue{name: fmt.Sprint(backend, " with TTL ", ttl), log: filepath.Join(t.TempDir(), "log")}
			for i, w := range work {
				script := fmt.Sprintf("echo begin %d >>%s; sleep %.2f; echo end %[1]d >>%[2]s", i, q.log, w*ttl.Seconds())
				q.commands = append(q.commands, startLock(t, nil, append(args, "--", "sh", "-c", script)...))
			}
			queues = append(queues, q)
		}
	}
	for _, q := range queues {
		t.Run(q.name, func(t *testing.T) {
			for i, c := range q.commands {
				if code := c.code(); code != 0 || c.stderr.String() != "" {
					t.Errorf("command %d: exit code %d, stderr: %s", i, code, c.stderr.String())
				}
			}
			text, _ := os.ReadFile(q.log)
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			if len(lines) != 2*len(q.commands) {
				t.Fatalf("log:\n%s", text)
			}
			for i := 0; i < len(lines); i += 2 {
				if number, ok := strings.CutPrefix(lines[i], "begin "); !ok || lines[i+1] != "end "+number {
					t.Fatalf("two commands ran at the same time:\n%s", text)
				}
			}
		})
	}
}
