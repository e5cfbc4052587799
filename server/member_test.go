package server_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// Two services run for longer than their heartbeats are apart. One is forgotten by the
// server and registers again by itself. All their ids differ and are traced to them.
func TestMembers(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	c := &client.Client{URL: r.url}
	shop, err := c.NewMember(t.Context(), wire.Registration{Name: "shop", IntervalSeconds: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mail, err := c.NewMember(t.Context(), wire.Registration{Name: "mail", IntervalSeconds: 1, PID: 4711}, &client.MemberOptions{
		Load: func() wire.Load { return wire.Load{MemoryBytes: new(int64(1 << 20))} },
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[objectid.ID]string{}
	create := func() {
		ids[shop.New()], ids[mail.New()] = "shop", "mail"
	}
	create()
	first := shop.Key()
	if err := c.End(t.Context(), first, "forgotten", 0); err != nil {
		t.Fatal(err)
	}
	await(t, "another registration", func() bool { return shop.Key() != first })
	again := shop.New()
	ids[again] = "shop"
	await(t, "a heartbeat with the load", func() bool {
		h, err := testenv.Get[wire.History](t.Context(), c.HTTP, c.URL+"/v1/processes/"+mail.GPID()+"?since=1h")
		return err == nil && h.Processes[0].LastHeartbeat.Number >= 2 && *h.Processes[0].LastHeartbeat.MemoryBytes == 1<<20
	})
	create()
	if err := errors.Join(shop.End("done"), mail.End("done")); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 5 {
		t.Errorf("%d different ids, want 5", len(ids))
	}
	for id, name := range ids {
		in, err := testenv.Get[wire.Inspection](t.Context(), c.HTTP, c.URL+"/v1/ids/"+id.String())
		if err != nil || in.Trace == nil || in.Trace.Verdict != "known" || in.Trace.Processes[0].Name != name || in.Trace.Processes[0].State != "ended" {
			t.Errorf("%v of %s: %+v, %v", id, name, in.Trace, err)
		}
	}
	if in, err := testenv.Get[wire.Inspection](t.Context(), c.HTTP, c.URL+"/v1/ids/"+again.String()); err != nil || in.Trace.Processes[0].Member == first {
		t.Errorf("an id of after the second registration is traced to the first: %v", err)
	}
	if found, err := testenv.Get[wire.Processes](t.Context(), c.HTTP, c.URL+"/v1/processes?q=SHOP"); err != nil || len(found.Processes) != 2 || found.Processes[0].Name != "shop" {
		t.Errorf("processes that are called shop: %+v, %v, want 2", found, err)
	}
	if _, err := c.NewMember(t.Context(), wire.Registration{Name: "x", EvidenceIDs: []objectid.ID{again}}, nil); err == nil {
		t.Error("a member with a sample is registered")
	}
	unnamed := testenv.Must(c.NewMember(t.Context(), wire.Registration{}, nil))(t)
	defer unnamed.End("done")
	if h, err := testenv.Get[wire.History](t.Context(), c.HTTP, c.URL+"/v1/processes/"+unnamed.GPID()); err != nil || h.Processes[0].Name != filepath.Base(os.Args[0]) {
		t.Errorf("a member without a name is recorded as %+v, %v, want the name of the program", h.Processes, err)
	}
}

// A member reports of its process what the registry reads of it, before and after.
func TestMemberLoad(t *testing.T) {
	r := serve(t, server.Options{})
	c := &client.Client{URL: r.url}
	self, err := registry.Describe(&registry.AdoptOptions{PID: os.Getpid(), RegisterOptions: registry.RegisterOptions{Addr: "127.0.0.1:0"}})
	if err != nil {
		t.Skip("this system does not show processes: ", err)
	}
	before, _ := self.Measure()
	m, err := c.NewMember(t.Context(), wire.Registration{Name: "shop", IntervalSeconds: 3600}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got wire.Sample
	await(t, "the first heartbeat", func() bool {
		h, err := testenv.Get[wire.History](t.Context(), c.HTTP, c.URL+"/v1/processes/"+m.GPID()+"?since=1h")
		if err != nil {
			t.Fatal(err)
		}
		got = h.Samples[len(h.Samples)-1]
		return got.MemoryBytes != nil
	})
	after, _ := self.Measure()
	measured := towire.FromLoad(got.Load)
	for _, f := range registry.LoadFields() {
		if *f.Of(&measured) == registry.Unmeasured {
			t.Errorf("%s is not measured: add it to ownLoad of server/client/member.go", f.Name)
		}
	}
	const tick = 10 * time.Millisecond
	if cpu := time.Duration(*got.CPUSeconds * float64(time.Second)); cpu < before.CPU-tick || cpu > after.CPU+tick {
		t.Errorf("CPU %v, want %v to %v", cpu, before.CPU, after.CPU)
	}
	for _, n := range []struct {
		name             string
		got, from, until int64
		slack            int64
	}{
		{"memory", *got.MemoryBytes, before.RSS, after.RSS, 32 << 20},
		{"threads", *got.Threads, before.Threads, after.Threads, 4},
		{"files", *got.Files, before.Files, after.Files, 8},
	} {
		if n.got < min(n.from, n.until)-n.slack || n.got > max(n.from, n.until)+n.slack {
			t.Errorf("%s %d, want %d to %d or so", n.name, n.got, n.from, n.until)
		}
	}
	if *got.Goroutines < 2 || *got.HeapBytes < 1<<10 {
		t.Errorf("%d goroutines, heap %d", *got.Goroutines, *got.HeapBytes)
	}
	if err := m.End("done"); err != nil {
		t.Error(err)
	}
}

// A request that the server refuses for now is sent again after the time that the
// server names, a few times; what is wrong is not.
func TestClientTriesAgain(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	var requests atomic.Int64
	refuse := atomic.Int64{}
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if refuse.Add(-1) >= 0 {
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"type":"`+wire.ProblemBase+`busy"}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"member":"m","gpid":"x","interval_seconds":1}`))
	}))
	defer busy.Close()
	c := &client.Client{URL: busy.URL, Retries: 2}
	refuse.Store(2)
	began := time.Now()
	if got, err := c.Register(t.Context(), wire.Registration{Name: "a"}); err != nil || got.GPID != "x" || requests.Load() != 3 || time.Since(began) < 2*time.Second {
		t.Errorf("refused twice: %+v, %v after %d requests in %v", got, err, requests.Load(), time.Since(began))
	}
	requests.Store(0)
	refuse.Store(100)
	var problem *client.Error
	if _, err := c.Register(t.Context(), wire.Registration{Name: "a"}); !errors.As(err, &problem) || problem.Status != 503 || problem.RetryAfter != time.Second || requests.Load() != 3 {
		t.Errorf("always refused: %v after %d requests, want 503 after 3", err, requests.Load())
	}
	requests.Store(0)
	short, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
	defer cancel()
	if _, err := c.Register(short, wire.Registration{Name: "a"}); !errors.As(err, &problem) || requests.Load() != 1 {
		t.Errorf("with less time than the server names: %v after %d requests", err, requests.Load())
	}
	requests.Store(0)
	if _, err := c.Census(t.Context(), strings.NewReader("x"), nil); !errors.As(err, &problem) || requests.Load() != 3 {
		t.Errorf("a census of memory: %v after %d requests", err, requests.Load())
	}
	requests.Store(0)
	if _, err := c.Census(t.Context(), io.MultiReader(strings.NewReader("x")), nil); !errors.As(err, &problem) || requests.Load() != 1 {
		t.Errorf("a census of a stream: %v after %d requests", err, requests.Load())
	}
	requests.Store(0)
	c.Retries = -1
	if _, err := c.Heartbeat(t.Context(), "0123456789abcdef", wire.Load{}); !errors.As(err, &problem) || requests.Load() != 1 {
		t.Errorf("without retries: %v after %d requests", err, requests.Load())
	}
}

// A census and the locks by the client.
func TestClientCensusAndLocks(t *testing.T) {
	r := serve(t, server.Options{OpenLocks: withLocks(t, "a/b")})
	c := &client.Client{URL: r.url}
	found, err := c.Census(t.Context(), strings.NewReader("507f1f77bcf86cd799439011\n507f1f77bcf86cd799439012\n"), url.Values{"name": {"orders"}})
	if err != nil || found.IDs != 2 || found.Sources[0].Name != "orders" {
		t.Errorf("Census: %+v, %v", found, err)
	}
	var problem *client.Error
	if _, err := c.Census(t.Context(), strings.NewReader("\x89PNG"), nil); !errors.As(err, &problem) || problem.Status != 422 {
		t.Errorf("Census of a picture: %v", err)
	}
	if l, err := testenv.Get[wire.Locks](t.Context(), c.HTTP, c.URL+"/v1/locks"); err != nil || len(l.Locks) != 1 || l.Locks[0].Name != "a/b" {
		t.Errorf("Locks: %+v, %v", l, err)
	}
	if l, err := testenv.Get[wire.Lock](t.Context(), c.HTTP, c.URL+"/v1/locks/a%2Fb"); err != nil || l.Holder == nil {
		t.Errorf("Lock: %+v, %v", l, err)
	}
}
