package main

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

var errFull = errors.New("no space left on the disk")

// full is an output that takes no more.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// A command whose output cannot be written fails and says why.
func TestOutputThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s.db")
	t.Setenv("OID_STORE", "sqlite:"+file)
	t.Setenv("OID_LOCKS", "file:"+dir)
	t.Setenv("OID_SEAL_KEYS", strings.Repeat("0f", 32))
	oid(t, "", "insert", "events", `{"_id":{"$oid":"507f1f77bcf86cd799439011"},"n":1}`)
	s, err := sqlitestore.Open(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gpid.New(netip.MustParseAddrPort("10.0.0.1:80"), time.Now().Add(-time.Hour), 4711)
	if err == nil {
		_, err = registry.New(s, nil).RegisterRemote(t.Context(), g, &registry.RemoteOptions{Name: "shop"})
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(dir, "ids.txt")
	if err := os.WriteFile(dump, []byte("507f1f77bcf86cd799439011\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sealed := strings.TrimSpace(oid(t, "", "seal", "--kind", "order", "507f1f77bcf86cd799439011").out)
	lines := []string{
		"--help", "help times", "--version", "new", "new -n 3 --json", "completion bash",
		"range --since 1h", "range --since 1h --json", "range --since 1h --for sql",
		"inspect 507f1f77bcf86cd799439011", "inspect --json 507f1f77bcf86cd799439011", "inspect --grep", "annotate " + dump,
		"odds --processes 10", "odds --processes 10 --json",
		"find events", "find events --count", "get events 507f1f77bcf86cd799439011", "collections", "collections --json",
		"insert events {}", "insert events {} --json", "delete events --since 1h",
		"ps", "ps --json", "trace 507f1f77bcf86cd799439011", "trace --json 507f1f77bcf86cd799439011",
		"census " + dump, "census --json " + dump, "census --json events", "lock --status x", "lock --status --json x", "lock --status --format prometheus x", "lock --break x", "prune --json",
		"seal --kind order 507f1f77bcf86cd799439011", "open --kind order --json " + sealed,
		"exit-codes", "urls", "times", "census-sources", "census-report", "lock-break", "lock-command", "lock-ticks", "lock-slots", "sql --for postgres",
	}
	// Commands without a line write nothing to standard output, or
	silent := map[string]string{
		"adopt": "runs until it is interrupted", "agent": "runs until it is interrupted", "serve": "runs until it is interrupted",
		"backup": "writes nothing",
	}
	root, _ := newRoot(streams{})
	for _, c := range root.Commands() {
		has := slices.ContainsFunc(lines, func(line string) bool { return strings.Split(line+" ", " ")[0] == c.Name() })
		if !has && silent[c.Name()] == "" {
			t.Errorf("oid %s: add a line to this test with which it writes to standard output, or say in silent why it has none", c.Name())
		}
	}
	for _, line := range lines {
		var stderr strings.Builder
		code := run(t.Context(), streams{strings.NewReader("507f1f77bcf86cd799439011\n"), full{}, &stderr}, strings.Fields(line))
		if code != exitFailed || !strings.Contains(stderr.String(), errFull.Error()) {
			t.Errorf("oid %s: exit code %d, %q, want %d and %v", line, code, stderr.String(), exitFailed, errFull)
		}
	}
	if err := writeTable(full{}, [][]string{{"STATE"}}); !errors.Is(err, errFull) {
		t.Errorf("a table: %v", err)
	}
}
