package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// A process in another language says what its clock shows, with its registration or
// only with a heartbeat. Its ids are judged by that clock.
func TestClockOverAPI(t *testing.T) {
	r := serve(t, server.Options{})
	for pid, off := range map[int]time.Duration{8: -2 * time.Second, 9: 45 * time.Second} {
		clock := time.Now().Add(off).UTC().Format(time.RFC3339Nano)
		p := decode[wire.Registered](t, r.post(t, "/v1/processes", fmt.Sprintf(`{"name":"php","pid":%d,"clock":%q}`, pid, clock)), 201)
		decode[wire.Registered](t, r.post(t, memberPath(p.Member)+"/heartbeats", fmt.Sprintf(`{"files":3,"clock":%q}`, clock)), 200)
		id := fmt.Sprintf("%08x%s00000001", time.Now().Add(off).Unix(), p.ProcessBlock)
		decode[wire.Registered](t, r.do(t, "DELETE", memberPath(p.Member), nil), 200)
		in := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+id), 200)
		if in.Trace == nil || in.Trace.Verdict != string(registry.Known) || !in.Trace.Certain {
			t.Errorf("clock off by %v: %+v, want known and certain", off, in.Trace)
		}
	}
}

// The start time of a process is by its own clock, too, however far that clock is ahead.
func TestStartByTheClockOfTheProcess(t *testing.T) {
	r := serve(t, server.Options{})
	ahead := time.Now().Add(3 * time.Hour).UTC().Format(time.RFC3339Nano)
	decode[wire.Registered](t, r.post(t, "/v1/processes", fmt.Sprintf(`{"name":"php","pid":8,"started":%q,"clock":%[1]q}`, ahead)), 201)
	if got := r.post(t, "/v1/processes", fmt.Sprintf(`{"name":"php","pid":9,"started":%q}`, ahead)); got.status != 422 {
		t.Errorf("a start in the future: %d %s, want 422", got.status, got.body)
	}
}
