package server_test

import (
	"testing"

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
