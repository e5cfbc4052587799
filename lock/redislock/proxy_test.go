package redislock_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock/redislock"
)

// twemproxy hangs up on HELLO. The error says that it is a proxy, at once.
func TestOpenTwemproxy(t *testing.T) {
	program := testenv.Program(t, "nutcracker", "nutcracker")
	server := testenv.Redis(t)
	port, config := testenv.FreePort(t), filepath.Join(t.TempDir(), "config.yml")
	text := fmt.Sprintf("locks:\n  listen: 127.0.0.1:%d\n  redis: true\n  servers:\n  - %s:1\n", port, server.Addr)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.Start(t, program, "--conf-file", config, "--stats-port", strconv.Itoa(testenv.FreePort(t)))
	url := fmt.Sprintf("redis://127.0.0.1:%d", port)
	var err error
	testenv.Await(t, "twemproxy", func() error {
		_, err = redislock.Open(t.Context(), url, nil)
		if err != nil && strings.Contains(err.Error(), "connection refused") {
			return err
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "hangs up on HELLO, as the proxy twemproxy does") {
		t.Errorf("Open: %v, want an error that names twemproxy", err)
	}
}

// An error names the command that a server lacks, without its arguments, and says what to do.
func TestServerLacksCommands(t *testing.T) {
	const remedy = " (if the server is a proxy, use the address of the Redis behind it)"
	server := testenv.Redis(t, "--rename-command", "EVALSHA", "", "--rename-command", "SCAN", "", "--rename-command", "HELLO", "",
		"--rename-command", "INFO", "", "--rename-command", "CLUSTER", "")
	l := open(t, server.URL(), 0)
	_, acquire := l.TryAcquire(t.Context(), "job", nil)
	_, list := l.List(t.Context())
	for command, err := range map[string]error{"EVALSHA": acquire, "SCAN": list} {
		// Redis 6 quotes the command with other marks.
		if err == nil || !strings.HasSuffix(strings.ReplaceAll(err.Error(), "`", "'"), "unknown command '"+command+"'"+remedy) {
			t.Errorf("%s: %v", command, err)
		}
	}
}
