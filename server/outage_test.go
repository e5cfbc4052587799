package server_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
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
func TestOutage(t *testing.T) { testOutage(t, 3500*time.Millisecond) }

func TestLongOutage(t *testing.T) {
	testenv.WithoutRace(t)
	testOutage(t, 30*time.Second)
}

func testOutage(t *testing.T, length time.Duration) {
	r := serve(t, server.Options{})
	cable := testenv.NewCable(t, strings.TrimPrefix(r.url, "http://"))
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &client.Client{URL: "http://" + cable.Addr, HTTP: &http.Client{Transport: transport}}
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
	direct := &client.Client{URL: r.url}
	states := func(want registry.State) bool {
		list, err := direct.Processes(t.Context(), string(want))
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
	cable.Swallow(true)
	for began := time.Now(); time.Since(began) < length; time.Sleep(time.Millisecond) {
		take()
	}
	await(t, "the server misses the heartbeats", func() bool { return states(registry.Dead) })
	cable.Swallow(false)
	await(t, "both are alive after it", func() bool { return states(registry.Alive) })
	time.Sleep(2 * time.Second) // two more heartbeats
	take()
	for i := range seen {
		if w := seen[i].seen(); len(w) != 2 || errors.Is(w[0], client.ErrBack) || !errors.Is(w[1], client.ErrBack) {
			t.Errorf("warnings %v, want one and one of the end", w)
		}
		first, last := all[i][0], all[i][len(all[i])-1]
		for _, id := range []objectid.ID{first, all[i][len(all[i])/2], last} {
			in, err := direct.Inspect(t.Context(), id.String())
			if err != nil || in.Trace == nil || in.Trace.Verdict != string(registry.Known) || in.Trace.Processes[0].Name != []string{"member", "ids"}[i] {
				t.Errorf("%v: %+v, %v", id, in.Trace, err)
			}
		}
	}
	if err := errors.Join(m.End("done"), member.End("done")); err != nil {
		t.Error(err)
	}
}
