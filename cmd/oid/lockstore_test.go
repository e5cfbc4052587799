//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// Two hosts share a lock in a PostgreSQL. While one holds it the other waits; when
// the first and its command are killed, the other gets it.
func TestLockInPostgres(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	first := startLock(t, nil, "job", "--locks", uri, "--ttl", "2s", "--", "sh", "-c", "echo held $OID_LOCK_FENCE; exec sleep 1000")
	held := first.line()
	status := oid(t, "", "lock", "--status", "job", "--locks", uri)
	if status.code != 0 || !strings.Contains(status.out, "job: held by ") || !strings.Contains(status.out, strings.TrimPrefix(held, "held ")) {
		t.Errorf("status: %+v, want the holder with the fence of %q", status, held)
	}
	if got := oid(t, "", "lock", "job", "--locks", uri, "--wait", "1s", "--", "true"); got.code != exitNotLocked {
		t.Errorf("while it is held: %+v, want code %d", got, exitNotLocked)
	}
	next := startLock(t, nil, "job", "--locks", uri, "--ttl", "2s", "--", "sh", "-c", "echo held $OID_LOCK_FENCE")
	time.Sleep(100 * time.Millisecond)
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := next.line(); got <= held {
		t.Errorf("the next says %q after %q", got, held)
	}
}
