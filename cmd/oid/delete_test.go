package main

import (
	"strings"
	"testing"
)

func TestDeleteAll(t *testing.T) {
	eachStore(t, func(t *testing.T) {
		oid(t, "{}\n{}\n", "insert", "events")
		oid(t, "{}", "insert", "orders")
		if got := oid(t, "y\n", "delete", "events", "--all"); got.code != exitUsage || !strings.Contains(got.err, "to delete all documents of collection events (2 documents), add --yes") {
			t.Errorf("without --yes: %+v, want a word on --yes", got)
		}
		if got := oid(t, "", "find", "events"); strings.Count(got.out, "\n") != 2 {
			t.Errorf("after the refusal: %+v, want both documents", got)
		}
		if got := oid(t, "", "delete", "events", "--all", "--yes"); got != (outcome{out: "2\n"}) {
			t.Errorf("with --yes: %+v", got)
		}
		if got := oid(t, "", "find", "events").out; got != "" {
			t.Errorf("documents %q are left", got)
		}
		if got := oid(t, "", "find", "orders").out; strings.Count(got, "\n") != 1 {
			t.Errorf("documents %q in the other collection, want one", got)
		}
		if got := oid(t, "", "delete", "evnets", "--all"); got.code != exitFailed || !strings.Contains(got.err, `there is no collection "evnets"; the store has the collections `) {
			t.Errorf("of a collection that does not exist: %+v", got)
		}
		if got := oid(t, "", "delete", "a$b", "--all", "--yes"); got.code != exitUsage {
			t.Errorf("of an invalid name: %+v", got)
		}
	})
}
