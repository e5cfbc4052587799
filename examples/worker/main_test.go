package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

// serve starts a server that ends with the test.
func serve(t *testing.T) *client.Client {
	t.Helper()
	s, err := server.New(&server.Options{
		Open:  func(context.Context) (store.Store, error) { return memstore.New(), nil },
		Drain: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return &client.Client{URL: "http://" + l.Addr().String()}
}

// Every id is traced to the worker, which recorded its end.
func TestWork(t *testing.T) {
	t.Parallel()
	c := serve(t)
	var out bytes.Buffer
	if err := work(t.Context(), c, time.Millisecond, 20, &out); err != nil {
		t.Fatal(err)
	}
	ids := strings.Fields(out.String())
	if len(ids) != 20 {
		t.Fatalf("%d ids of 20 jobs", len(ids))
	}
	for _, id := range ids {
		in, err := testenv.Get[wire.Inspection](t.Context(), c.HTTP, c.URL+"/v1/ids/"+id)
		if err != nil {
			t.Fatal(err)
		}
		if in.Trace == nil || in.Trace.Verdict != string(registry.Known) || in.Trace.Processes[0].Name != "worker" || in.Trace.Processes[0].State != string(registry.Ended) {
			t.Errorf("%s: %+v", id, in.Trace)
		}
	}
}

// It sends heartbeats, registers again after its registration was ended, and an
// interrupt ends it cleanly.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	c := serve(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out bytes.Buffer
	ended := make(chan error)
	go func() { ended <- work(ctx, c, time.Millisecond, 0, &out) }()
	first := awaitWorker(t, c, func(p wire.Process) bool { return p.LastHeartbeat.HeapBytes != nil && *p.LastHeartbeat.HeapBytes > 0 })
	if err := c.End(t.Context(), first.Member, "ended by the test", 0); err != nil {
		t.Fatal(err)
	}
	awaitWorker(t, c, func(p wire.Process) bool { return p.State == string(registry.Alive) })
	stop()
	if err := <-ended; err != nil || out.Len() == 0 {
		t.Errorf("%v, %d bytes of ids", err, out.Len())
	}
	awaitWorker(t, c, func(p wire.Process) bool { return p.State == string(registry.Ended) && p.End.Reason == "no more jobs" })
}

// awaitWorker waits for a worker that satisfies ok.
func awaitWorker(t *testing.T, c *client.Client, ok func(wire.Process) bool) wire.Process {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		list, err := testenv.Get[wire.Processes](t.Context(), c.HTTP, c.URL+"/v1/processes")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Processes {
			if p.Name == "worker" && ok(p) {
				return p
			}
		}
	}
	t.Fatal("no worker is as it should be")
	return wire.Process{}
}
