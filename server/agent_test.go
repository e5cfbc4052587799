package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// An agent registers the processes of its host, sends all their heartbeats with one
// request, is told which of them have ended or are unknown, and finds its processes by
// their labels, page by page.
func TestAgentOverAPI(t *testing.T) {
	r := serve(t, server.Options{})
	const n = 7
	var beats wire.Heartbeats
	var gpids []string
	for i := range n {
		body := fmt.Sprintf(`{"name":"worker%d","pid":%d,"address":"10.0.0.7:%d","labels":{"zone":"a","even":"%v"}}`, i, i+1, 8000+i, i%2 == 0)
		p := decode[wire.Registered](t, r.post(t, "/v1/processes", body), 201)
		gpids = append(gpids, p.GPID)
		beats.Heartbeats = append(beats.Heartbeats, wire.HeartbeatOf{Member: p.Member})
	}
	send := func() wire.HeartbeatResults {
		t.Helper()
		body, err := json.Marshal(beats)
		if err != nil {
			t.Fatal(err)
		}
		return decode[wire.HeartbeatResults](t, r.post(t, "/v1/members/heartbeats", string(body)), 200)
	}
	for range 10 {
		if got := send(); got.Recorded != n || len(got.Problems) != 0 {
			t.Fatalf("heartbeats: %+v", got)
		}
	}
	if got := decode[wire.History](t, r.get(t, "/v1/processes/"+url.PathEscape(gpids[0])), 200); len(got.Samples) != 11 || got.Processes[0].LastHeartbeat.Number != 11 {
		t.Errorf("history: %d samples, %+v", len(got.Samples), got.Processes[0].LastHeartbeat)
	}
	if got := r.do(t, "DELETE", memberPath(beats.Heartbeats[0].Member), nil); got.status != 200 {
		t.Errorf("end: %+v", got)
	}
	beats.Heartbeats[1].Member = "0123456789abcdef"
	got := send()
	if got.Recorded != n-2 || len(got.Problems) != 2 || got.Problems[0].Status != 409 || got.Problems[1].Status != 404 {
		t.Errorf("one has ended and one is unknown: %+v", got)
	}
	names := map[string]int{}
	path := "/v1/processes?state=alive&limit=2&label=zone%3Da&label=even%3Dtrue"
	for after := ""; ; {
		page := decode[wire.Processes](t, r.get(t, path+"&after="+url.QueryEscape(after)), 200)
		for _, p := range page.Processes {
			names[p.Name]++
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(names) != 3 || names["worker2"] != 1 || names["worker4"] != 1 || names["worker6"] != 1 {
		t.Errorf("alive with the labels: %v, want worker2, 4 and 6, once each", names)
	}
	if got := decode[wire.Processes](t, r.get(t, "/v1/processes?state=ended&name=worker0"), 200); len(got.Processes) != 1 {
		t.Errorf("ended: %+v", got)
	}
	wantProblem(t, r.get(t, "/v1/processes?label=zone"), 422, "NAME=VALUE")
	wantProblem(t, r.get(t, "/v1/processes?state=alive&after=x"), 422, "cursor")
}
