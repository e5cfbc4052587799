package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDrop(t *testing.T) {
	eachStore(t, func(t *testing.T) {
		oid(t, "{}\n{}\n", "insert", "events")
		oid(t, "{}", "insert", "orders")
		if got := oid(t, "y\n", "drop", "events"); got.code != exitUsage || !strings.Contains(got.err, "--yes") {
			t.Errorf("without a terminal: %+v, want a word on --yes", got)
		}
		if got := oid(t, "y\n", "delete", "events", "--all"); got.code != exitUsage || !strings.Contains(got.err, "give --yes to delete all documents of collection events") {
			t.Errorf("delete --all without a terminal: %+v, want a word on --yes", got)
		}
		if got := oid(t, "", "find", "events"); strings.Count(got.out, "\n") != 2 {
			t.Errorf("after two refusals: %+v, want both documents", got)
		}
		if got := oid(t, "", "drop", "events", "--yes"); got != (outcome{}) {
			t.Errorf("drop: %+v", got)
		}
		if got := oid(t, "", "collections").out; got != "orders\n" {
			t.Errorf("collections %q are left", got)
		}
		if got := oid(t, "", "drop", "events", "--yes"); got.code != exitFailed || !strings.Contains(got.err, `no collection "events"`) {
			t.Errorf("drop again: %+v", got)
		}
		if got := oid(t, "", "drop", "a$b", "--yes"); got.code != exitUsage {
			t.Errorf("drop of an invalid name: %+v", got)
		}
	})
}

// TestCompleteCollection completes names as a shell asks for them, without the collections
// of the registry.
func TestCompleteCollection(t *testing.T) {
	eachStore(t, func(t *testing.T) {
		oid(t, "{}", "insert", "oid.processes")
		oid(t, "{}", "insert", "events")
		oid(t, "{}", "insert", "orders")
		for _, command := range []string{"find", "get", "delete", "insert", "drop"} {
			if got := oid(t, "", "__complete", command, ""); !strings.HasPrefix(got.out, "events\norders\n:4\n") {
				t.Errorf("%s: %+v, want the collections and no files", command, got)
			}
			if got := oid(t, "", "__complete", command, "events", ""); !strings.HasPrefix(got.out, ":4\n") {
				t.Errorf("second argument of %s: %+v, want nothing", command, got)
			}
		}
	})
	other := "sqlite:" + filepath.Join(t.TempDir(), "other.db")
	oid(t, "{}", "insert", "--store", other, "elsewhere")
	if got := oid(t, "", "__complete", "find", "--store", other, ""); !strings.HasPrefix(got.out, "elsewhere\n") {
		t.Errorf("with --store: %+v", got)
	}
	if got := oid(t, "", "__complete", "find", "--store", "sqlite:"+filepath.Join(t.TempDir(), "none.db"), ""); !strings.HasPrefix(got.out, ":4\n") {
		t.Errorf("without a store: %+v, want nothing", got)
	}
}
