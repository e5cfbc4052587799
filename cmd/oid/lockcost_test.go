package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// One run of oid lock sends Redis two commands to connect, and three for the lock. A busy machine
// may add one: the process group of a command that runs for 100 ms is recorded. The reply to INFO
// is short.
func TestLockSendsFewCommands(t *testing.T) {
	server := testenv.Redis(t)
	run := func() {
		h := startLock(t, nil, "job", "--locks", server.URL(), "--", "true")
		if got := h.code(); got != 0 || h.stderr.String() != "" {
			t.Errorf("exit code %d, stderr %q", got, h.stderr.String())
		}
	}
	counter := func(name string) int {
		for line := range strings.Lines(server.CLI("INFO", "stats")) {
			if n, found := strings.CutPrefix(line, name+":"); found {
				return testenv.Must(strconv.Atoi(strings.TrimSpace(n)))(t)
			}
		}
		t.Fatalf("no %s", name)
		return 0
	}
	run() // Redis learns the scripts
	server.CLI("CONFIG", "RESETSTAT")
	run()
	bytes := counter("total_net_output_bytes")
	stats := server.CLI("INFO", "commandstats")
	sent, all := 0, 0
	for line := range strings.Lines(stats) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		count, _, _ := strings.Cut(rest, ",")
		n, _ := strconv.Atoi(count)
		switch name {
		case "config", "config|resetstat":
			continue
		case "info":
			n-- // that of counter
		case "get", "mget", "set", "pexpire", "time": // by scripts
			all += n
			continue
		}
		sent += n
		all += n
	}
	if sent > 6 || all > 15 {
		t.Errorf("%d commands, and %d with those of scripts; want at most 6 and 15:\n%s", sent, all, stats)
	}
	if bytes > 3000 {
		t.Errorf("replies of %d bytes", bytes)
	}
}
