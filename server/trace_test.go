package server_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// Ids of one process and one second are looked up once, and each answer is about its
// own id. What the registry learns is seen at once.
func TestTracesOfOneSecond(t *testing.T) {
	r := serve(t, server.Options{})
	p := decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"shop","pid":7}`), 201)
	one := decode[wire.IDs](t, r.post(t, "/v1/ids", `{}`), 200).IDs[0].String()
	id := func(counter string) objectid.ID { return objectid.MustParse(one[:8] + p.ProcessBlock + "00" + counter) }
	inspect := func(id objectid.ID) *wire.Trace {
		t.Helper()
		got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+id.String()), 200).Trace
		if got == nil || got.Verdict != "known" || got.ID != id || got.Processes[0].Name != "shop" {
			t.Fatalf("trace of %v: %+v", id, got)
		}
		return got
	}
	for _, counter := range []string{"000001", "000002", "ffffff"} {
		if got := inspect(id(counter)); got.Processes[0].State != "alive" {
			t.Errorf("%+v", got)
		}
	}
	if n := metric(t, r, `oid_store_duration_seconds_count{call="trace"}`); n < 1 || n > 2 { // the second may end in between
		t.Errorf("3 ids of one second took %v traces", n)
	}
	if got := r.do(t, "DELETE", memberPath(p.Member), nil); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := inspect(id("000001")); got.Processes[0].State != "ended" {
		t.Errorf("after its end: %+v", got)
	}
	other := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+one[:8]+"0102030405000001"), 200)
	if other.Trace == nil || other.Trace.Verdict == "known" {
		t.Errorf("an id of another process: %+v", other.Trace)
	}
}

// That an id is not known is remembered for a second at most, and no longer than until
// this server records its process.
func TestTracesOfUnknownIDs(t *testing.T) {
	t.Parallel()
	o := server.Options{Open: fileStore(filepath.Join(t.TempDir(), "oid.db"))}
	r, other := serve(t, o), serve(t, o)
	id := func(value string) string {
		return fmt.Sprintf("%08x%s000001", time.Now().Unix(), value)
	}
	verdict := func(id string) string {
		t.Helper()
		got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+id), 200).Trace
		if got == nil || got.ID.String() != id {
			t.Fatalf("trace of %v: %+v", id, got)
		}
		return got.Verdict
	}
	adopt := func(by *running, pid int, sample string) {
		t.Helper()
		started := time.Now().Add(-time.Minute).Format(time.RFC3339)
		decode[wire.Registered](t, by.post(t, "/v1/processes", fmt.Sprintf(`{"name":"shop","pid":%d,"started":%q,"evidence_ids":[%q]}`, pid, started, sample)), 201)
	}
	mine, others := id("0102030405"), id("0a0b0c0d0e")
	traces := func() float64 { return metric(t, r, `oid_store_duration_seconds_count{call="trace"}`) }
	unknown := func(id string) {
		t.Helper()
		for range 20 { // on a slow machine a second may pass in between
			before := traces()
			for range 3 {
				if got := verdict(id); got != "unknown" {
					t.Fatalf("before it is recorded: %s", got)
				}
			}
			if traces()-before <= 1 {
				return
			}
		}
		t.Error("an unknown id is never remembered")
	}
	verdict(mine) // so that there is a metric
	unknown(mine)
	adopt(r, 7, mine)
	if got := verdict(mine); got != "claimed" {
		t.Errorf("just recorded by this server: %s", got)
	}
	unknown(others)
	adopt(other, 8, others)
	time.Sleep(time.Second)
	if got := verdict(others); got != "claimed" {
		t.Errorf("recorded by another server a second ago: %s", got)
	}
}
