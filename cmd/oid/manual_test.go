package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// The manual pages have the date that the release sets, and that of oid lists all commands.
func TestManual(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "builds a program")
	folder := t.TempDir()
	cmd := exec.Command("go", "run", "-tags", "manual", ".", folder, "0.1.0")
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	root, _ := newRoot(streams{out: io.Discard, err: io.Discard})
	text, err := os.ReadFile(filepath.Join(folder, "oid.1"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(text), `\-`, "-")
	if !strings.Contains(page, `"Nov 2023" "oid 0.1.0"`) {
		t.Errorf("oid.1 begins with %.200q, want the date of SOURCE_DATE_EPOCH", page)
	}
	for _, c := range root.Commands() {
		if c.Hidden {
			continue
		}
		if !strings.Contains(page, c.Name()+" ") || !strings.Contains(page, c.Short) {
			t.Errorf("oid.1 does not list %s", c.Name())
		}
		if _, err := os.Stat(filepath.Join(folder, "oid-"+c.Name()+".1")); err != nil {
			t.Error(err)
		}
	}
}
