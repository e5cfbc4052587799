//go:build unix

package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// One run of oid lock sends Redis two commands to connect, and three for the lock. The reply to
// INFO is short. A busy machine may add a command for the process group of a command that runs
// for 100 ms, so the cheapest of some runs counts.
func TestLockSendsFewCommands(t *testing.T) {
	server := testenv.Redis(t)
	run := func() {
		h := startLock(t, nil, "job", "--locks", server.URL(), "--", "true")
		if got := h.code(); got != 0 || h.stderr.String() != "" {
			t.Errorf("exit code %d, stderr %q", got, h.stderr.String())
		}
	}
	run() // Redis learns the scripts
	const mostSent, mostRun, mostBytes = 5, 11, 3000
	var stats string
	for range 10 {
		server.CLI("CONFIG", "RESETSTAT")
		run()
		_, out, _ := strings.Cut(server.CLI("INFO", "stats"), "total_net_output_bytes:")
		out, _, _ = strings.Cut(out, "\n")
		bytes := testenv.Must(strconv.Atoi(strings.TrimSpace(out)))(t)
		stats = server.CLI("INFO", "commandstats")
		sent, all := -1, -1 // one INFO was sent by redis-cli
		for line := range strings.Lines(stats) {
			name, rest, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
			count, _, _ := strings.Cut(rest, ",")
			n, _ := strconv.Atoi(count)
			switch name {
			case "config", "config|resetstat":
				continue
			case "get", "mget", "set", "pexpire", "time": // by scripts
			default:
				sent += n
			}
			all += n
		}
		if sent <= mostSent && all <= mostRun && bytes <= mostBytes {
			return
		}
		t.Logf("%d commands, %d with those of scripts, replies of %d bytes", sent, all, bytes)
	}
	t.Errorf("want at most %d commands, %d with those of scripts, and %d bytes:\n%s", mostSent, mostRun, mostBytes, stats)
}
