package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/client"
)

// Processes that say much of themselves, all at once, do not keep heartbeats from the server: a
// request has no more bytes than a server accepts.
func TestManyLongDescriptions(t *testing.T) {
	t.Parallel()
	_, url, _ := startServe(t.Context(), t)
	sink := toServer{client: client.Client{URL: url, Retries: -1}}
	labels := map[string]string{}
	for i := range 50 {
		labels[fmt.Sprintf("k8s.pod.label.%d", i)] = strings.Repeat("<", 200) // six bytes each in JSON
	}
	var beats []registry.RemoteHeartbeat
	for i := range 40 {
		id := objectid.New()
		id[5] = byte(i) // another process value
		g := testenv.Must(gpid.New(testenv.Must(gpid.ParseAddr("10.0.0.1:1"))(t), time.Now().Add(-time.Second), i+1))(t)
		member := testenv.Must(sink.Register(t.Context(), g, []objectid.ID{id}, 0, &registry.RemoteOptions{Name: "shop"}))(t)
		beats = append(beats, registry.RemoteHeartbeat{Member: member, Description: &registry.Description{Name: "shop", Labels: labels}})
	}
	errs := sink.Heartbeats(t.Context(), beats)
	for i, err := range errs {
		if err != nil {
			t.Fatalf("heartbeat %d: %v", i, err)
		}
	}
	if len(errs) != len(beats) {
		t.Errorf("%d results for %d heartbeats", len(errs), len(beats))
	}
}
