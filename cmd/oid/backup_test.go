package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("OID_STORE", "sqlite:"+filepath.Join(dir, "s.db"))
	id := oid(t, "{}", "insert", "events").out
	copied := filepath.Join(dir, "copy.db")
	if got := oid(t, "", "backup", copied); got != (outcome{}) {
		t.Errorf("backup: %+v", got)
	}
	if got := oid(t, "", "backup", copied); got.code != exitFailed || !strings.Contains(got.err, "name a file that does not exist") {
		t.Errorf("backup over a file: %+v", got)
	}
	if got := oid(t, "", "find", "events", "--store", "sqlite:"+copied); !strings.Contains(got.out, strings.TrimSpace(id)) {
		t.Errorf("found in the copy: %+v, want %s", got, id)
	}
}

func TestBackupOfServer(t *testing.T) {
	t.Setenv("OID_STORE", testenv.MongoDB(t))
	if got := oid(t, "", "backup", filepath.Join(t.TempDir(), "copy.db")); got.code != exitUsage || !strings.Contains(got.err, "mongodump") {
		t.Errorf("backup of a server: %+v", got)
	}
}
