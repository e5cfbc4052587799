package main

import (
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
