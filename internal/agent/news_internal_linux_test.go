package agent

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oidkit/oid/internal/otelresource"
	"github.com/oidkit/oid/registry"
)

// hears is a sink that notes the versions in the heartbeats.
type hears struct {
	Sink
	versions []string
	during   func()
}

func (s *hears) Heartbeats(_ context.Context, beats []registry.RemoteHeartbeat) []error {
	for _, b := range beats {
		if b.Description != nil {
			s.versions = append(s.versions, b.Description.Version)
		}
	}
	s.during()
	return make([]error, len(beats))
}

// What is new of a process goes to the sink once, and what becomes new during the call goes to
// it with the next heartbeat.
func TestNewsIsSentOnce(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	a.State = filepath.Join(t.TempDir(), "state")
	check(t, a.rewrite())
	p := &process{Member: "0a1b2c3d4e5f6071"}
	hear := func(version string) { a.hear(p, &otelresource.Description{Version: version}, nil) }
	sink := &hears{during: func() { hear("2") }}
	a.sink = sink
	hear("1")
	for range 3 {
		a.keep(measured{p: p})
		check(t, a.sendHeartbeats(t.Context()))
		sink.during = func() {}
	}
	if !slices.Equal(sink.versions, []string{"1", "2"}) || p.Version != "2" || p.news != nil {
		t.Errorf("versions %q were sent, and the process has %q", sink.versions, p.Version)
	}
}
