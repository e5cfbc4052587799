package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sentinel starts a Sentinel that watches the primary at addr alone, so that its
// own vote is enough.
func sentinel(t testing.TB, addr string) *RedisServer {
	t.Helper()
	host, port, _ := strings.Cut(addr, ":")
	own := FreePort(t)
	config := filepath.Join(t.TempDir(), "sentinel.conf") // Sentinel writes to it
	text := fmt.Sprintf(`port %d
bind 127.0.0.1
sentinel monitor %[2]s %s %s 1
sentinel down-after-milliseconds %[2]s 500
sentinel failover-timeout %[2]s 3000
`, own, SentinelMaster, host, port)
	NoError(t, os.WriteFile(config, []byte(text), 0o644))
	s := &RedisServer{Addr: fmt.Sprintf("127.0.0.1:%d", own), t: t, command: []string{RedisProgram(t), config, "--sentinel"}}
	s.Start()
	return s
}
