package server_test

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// Ids that nobody has created do not cost a trace each. What another server records is found
// all the same: at once by the ids that its process creates, and after a second by others.
func TestManyUnknownIDs(t *testing.T) {
	t.Parallel()
	o := server.Options{Open: fileStore(filepath.Join(t.TempDir(), "oid.db"))}
	r, other := serve(t, o), serve(t, o)
	old := time.Now().Add(-time.Hour)
	verdict := func(at time.Time, value string) string {
		t.Helper()
		id := fmt.Sprintf("%08x%s000001", at.Unix(), value)
		got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+id), 200).Trace
		if got == nil || got.ID.String() != id {
			t.Fatalf("trace of %v: %+v", id, got)
		}
		return got.Verdict
	}
	traces := func() float64 { return metric(t, r, `oid_store_duration_seconds_count{call="trace"}`) }
	n := 0
	ask := func(times int) (asked float64) {
		t.Helper()
		before := traces()
		for range times {
			if n++; verdict(old, hex.EncodeToString([]byte{1, 2, 3, byte(n >> 8), byte(n)})) != "unknown" {
				t.Fatal("an id that nobody has created is not unknown")
			}
		}
		return traces() - before
	}
	verdict(old, "0a0b0c0d0e") // so that there is a metric
	const few = 16
	if got := ask(few - 2); got != few-2 {
		t.Errorf("%d ids took %v traces", few-2, got)
	}
	fewer := 0
	for range 20 { // on a slow machine a second may pass in between
		if ask(4*few) < 2*few {
			fewer++
		}
	}
	if fewer == 0 {
		t.Errorf("%d ids take as many traces", 4*few)
	}

	adopt := func(by *running, pid int, value string) {
		t.Helper()
		body := fmt.Sprintf(`{"name":"shop","pid":%d,"started":%q,"evidence_ids":["%08x%s000001"]}`, pid, old.Add(-time.Hour).Format(time.RFC3339), old.Unix(), value)
		decode[wire.Registered](t, by.post(t, "/v1/processes", body), 201)
	}
	ask(2 * few) // within a second the claimed values are known
	adopt(r, 7, "0a0b0c0d0e")
	if got := verdict(old, "0a0b0c0d0e"); got != "claimed" {
		t.Errorf("just recorded by this server: %s", got)
	}
	ask(2 * few)
	p := decode[wire.Registered](t, other.post(t, "/v1/processes", `{"name":"shop","pid":8}`), 201)
	if got := verdict(time.Now(), p.ProcessBlock+"00"); got != "known" {
		t.Errorf("a new id of a process that another server has just recorded: %s", got)
	}
	adopt(other, 9, "0f0b0c0d0e")
	time.Sleep(time.Second)
	if got := verdict(old, "0f0b0c0d0e"); got != "claimed" {
		t.Errorf("recorded by another server a second ago: %s", got)
	}
}
