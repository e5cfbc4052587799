package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// TestTablesThatCannotBeListed reads files of SQLite on a file system that is not writable: a store
// can be read there, and a database of another program in WAL mode says what to do.
func TestTablesThatCannotBeListed(t *testing.T) {
	testenv.Program(t, "sqlite3", "sqlite3")
	if exec.Command("unshare", "-rm", "true").Run() != nil {
		testenv.Missing(t, "no user namespaces here, so nothing can be mounted")
	}
	dir := t.TempDir()
	app, events := filepath.Join(dir, "app.db"), "sqlite:"+filepath.Join(dir, "events.db")
	tableClient{t: t, command: []string{"sqlite3", app}}.sql("PRAGMA journal_mode=WAL; CREATE TABLE t (id BLOB PRIMARY KEY)")
	if got := oid(t, "", "insert", "--store", events, "events", "{}"); got.code != 0 {
		t.Fatal(got)
	}
	for source, want := range map[string]string{
		app:               "if it is in WAL mode, its folder must be writable",
		events:            "1 document, 1 id",
		events + "#event": "the database has events",
	} {
		script := `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && oid census "$1"`
		out, _ := exec.Command("unshare", "-rm", "sh", "-c", script, dir, source).CombinedOutput() // the text tells
		if text := strings.Join(strings.Fields(string(out)), " "); !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %q", source, text, want)
		}
	}
}
