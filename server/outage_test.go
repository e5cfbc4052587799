package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// noPause is the longest that an id may take on a busy machine, well below an outage.
const noPause = time.Second

// outage is what a program has seen of its member.
type outage struct {
	mu       sync.Mutex
	warnings []error
}

func (o *outage) warn(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.warnings = append(o.warnings, err)
}

func (o *outage) seen() []error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]error(nil), o.warnings...)
}

// A proxy swallows all requests for some seconds, and answers again: no id of a member or
// of IDs has to wait, both are alive after it and have warned twice, and all ids are
// traced to them.
func TestOutage(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	cable := testenv.NewCable(t, strings.TrimPrefix(r.url, "http://"))
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &client.Client{URL: "http://" + cable.Addr, HTTP: &http.Client{Transport: transport}}
	testOutage(t, c, &client.Client{URL: r.url}, cable.Swallow, 3500*time.Millisecond)
}

// The same for ten minutes of the clock of a bubble, in which the server listens in memory.
func TestLongOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // a bubble begins in 2000, which no gpid can hold
		l := newMemoryListener()
		s, err := server.New(&server.Options{Open: memoryStore, Drain: time.Millisecond, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ctx, l) }()
		defer func() {
			stop()
			if err := <-served; err != nil {
				t.Error(err)
			}
		}()
		transport := &http.Transport{DialContext: l.dial}
		defer transport.CloseIdleConnections()
		network := &swallower{next: transport}
		c := &client.Client{URL: "http://localhost", HTTP: &http.Client{Transport: network}}
		direct := &client.Client{URL: "http://localhost", HTTP: &http.Client{Transport: transport}}
		testOutage(t, c, direct, network.swallows.Store, 10*time.Minute)
	})
}

// swallower drops requests as [testenv.Cable.Swallow] does.
type swallower struct {
	next     http.RoundTripper
	swallows atomic.Bool
}

func (s *swallower) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.swallows.Load() {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return s.next.RoundTrip(r)
}

// memoryListener is a network of one server, without the system.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (l *memoryListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// testOutage lets swallow make all requests of c go lost for so long.
func testOutage(t *testing.T, c, direct *client.Client, swallow func(bool), length time.Duration) {
	var seen [2]outage
	m, err := c.NewMember(t.Context(), wire.Registration{Name: "member", IntervalSeconds: 1}, &client.MemberOptions{Warn: seen[0].warn})
	if err != nil {
		t.Fatal(err)
	}
	ids := &client.IDs{Client: c, Registration: wire.Registration{Name: "ids", IntervalSeconds: 1}, Options: &client.MemberOptions{Warn: seen[1].warn}}
	var all [2][]objectid.ID
	take := func() {
		t.Helper()
		began := time.Now()
		id, err := ids.New(t.Context())
		if took := time.Since(began); err != nil || took > noPause {
			t.Fatalf("an id took %v: %v", took, err)
		}
		all[0], all[1] = append(all[0], m.New()), append(all[1], id)
	}
	take()
	member, err := ids.Member(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states := func(want registry.State) bool {
		list, err := testenv.Get[wire.Processes](t.Context(), direct.HTTP, direct.URL+"/v1/processes?state="+string(want))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range list.Processes {
			if p.Member == m.Key() || p.Member == member.Key() {
				n++
			}
		}
		return n == 2
	}
	swallow(true)
	for began := time.Now(); time.Since(began) < length; time.Sleep(time.Millisecond) {
		take()
	}
	await(t, "the server misses the heartbeats", func() bool { return states(registry.Dead) })
	swallow(false)
	await(t, "both are alive after it", func() bool { return states(registry.Alive) })
	time.Sleep(2 * time.Second) // two more heartbeats
	take()
	for i := range seen {
		if w := seen[i].seen(); len(w) != 2 || errors.Is(w[0], client.ErrBack) || !errors.Is(w[1], client.ErrBack) {
			t.Errorf("warnings %v, want one and one of the end", w)
		}
		first, last := all[i][0], all[i][len(all[i])-1]
		for _, id := range []objectid.ID{first, all[i][len(all[i])/2], last} {
			in, err := testenv.Get[wire.Inspection](t.Context(), direct.HTTP, direct.URL+"/v1/ids/"+id.String())
			if err != nil || in.Trace == nil || in.Trace.Verdict != string(registry.Known) || in.Trace.Processes[0].Name != []string{"member", "ids"}[i] {
				t.Errorf("%v: %+v, %v", id, in.Trace, err)
			}
		}
	}
	if err := errors.Join(m.End("done"), member.End("done")); err != nil {
		t.Error(err)
	}
}
