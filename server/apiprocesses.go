package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/timerange"
)

type joinInput struct {
	Body   wire.Join
	remote string
}

// Resolve keeps where the request comes from.
func (in *joinInput) Resolve(c huma.Context) []error {
	in.remote, _, _ = net.SplitHostPort(c.RemoteAddr())
	return nil
}

type listInput struct {
	State string `query:"state" enum:"alive,late,dead,ended" doc:"Only processes in this state."`
	Addr  string `query:"addr" maxLength:"64" doc:"Only the runs at this ip:port, which shows its restarts."`
	Limit int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"How many at most."`
}

type beatInput struct {
	GPID gpid.GPID `path:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"Identity of the process: ip:port:start_time:pid."`
	Body wire.Heartbeat
}

type leaveInput struct {
	GPID   gpid.GPID `path:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"Identity of the process: ip:port:start_time:pid."`
	Reason string    `query:"reason" maxLength:"200" default:"left" doc:"Why it ends, for people."`
}

type historyInput struct {
	GPID  gpid.GPID `path:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"Identity of the process: ip:port:start_time:pid."`
	Since string    `query:"since" maxLength:"100" default:"24h" doc:"A duration up to now, or a time."`
	To    string    `query:"to" maxLength:"100" doc:"A time, not included."`
	Limit int       `query:"limit" minimum:"1" maximum:"100000" default:"10000" doc:"How many samples at most."`
}

func (s *Server) addProcesses(api huma.API) {
	const path, one = "/v1/processes", "/v1/processes/{gpid}"
	gone := []int{http.StatusNotFound, http.StatusConflict}
	join := operation(http.MethodPost, path, "join", "Join or adopt",
		"Records a process. Without a sample it gets a block of process values that nobody else ever had, and makes its ids with it; "+
			"with a sample, an id that it has made, its ids are traced to it. Send heartbeats from then on.", http.StatusUnsupportedMediaType)
	join.DefaultStatus = http.StatusCreated
	handle(s, api, join, s.join)
	handle(s, api, operation(http.MethodGet, path, "listProcesses", "List processes",
		"The processes that are recorded, by address and then in the order of their start."), s.list)
	handle(s, api, operation(http.MethodGet, one, "getProcess", "One process with its history",
		"The records of one run of a process, and the samples of its load.", gone...), s.history)
	handle(s, api, operation(http.MethodPost, one+"/heartbeat", "heartbeat", "Send a heartbeat",
		"Says that a process which joined over this API is alive, and what it uses. After 404 or 409, join again.", append(gone, http.StatusUnsupportedMediaType)...),
		func(ctx context.Context, in *beatInput) (wire.Joined, error) {
			return s.joined(ctx, "beat", func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
				return r.Heartbeat(ctx, in.GPID, load(in.Body))
			})
		})
	handle(s, api, operation(http.MethodDelete, one, "leave", "Leave",
		"Records the clean end of a process that joined over this API. What it did stays recorded.", gone...),
		func(ctx context.Context, in *leaveInput) (wire.Joined, error) {
			return s.joined(ctx, "end", func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
				return r.End(ctx, in.GPID, in.Reason)
			})
		})
}

// maxAhead is how far the clock of a process may be ahead of this one's.
const maxAhead = time.Hour

// Labels are part of every list of processes.
const (
	maxLabelKey   = 100
	maxLabelValue = 200
)

func (s *Server) join(ctx context.Context, in *joinInput) (wire.Joined, error) {
	addr := netip.AddrPort{}
	var err error
	if in.Body.Addr == "" {
		var ip netip.Addr
		ip, err = netip.ParseAddr(in.remote)
		addr = netip.AddrPortFrom(ip.WithZone(""), 0)
	} else {
		addr, err = netip.ParseAddrPort(in.Body.Addr)
	}
	if err != nil {
		return wire.Joined{}, fmt.Errorf("%w: addr %q, want ip:port", gpid.ErrInvalid, in.Body.Addr)
	}
	for key, value := range in.Body.Labels {
		if key == "" || len(key) > maxLabelKey || len(value) > maxLabelValue {
			return wire.Joined{}, requestf("label %.50q: want a key of 1 to %d bytes and a value of up to %d", key, maxLabelKey, maxLabelValue)
		}
	}
	if strings.TrimSpace(in.Body.Name) == "" || strings.ContainsFunc(in.Body.Name, unicode.IsControl) {
		return wire.Joined{}, requestf("name %q: want one that can be read", in.Body.Name)
	}
	start, now := in.Body.Start, s.options.Now()
	if start.IsZero() {
		start = now
	}
	if start.After(now.Add(maxAhead)) {
		return wire.Joined{}, requestf("start %s: it lies in the future", start.Format(time.RFC3339))
	}
	g, err := gpid.New(addr, start, int(in.Body.PID))
	if err != nil {
		return wire.Joined{}, err
	}
	o := &registry.RemoteOptions{
		Name: in.Body.Name, Version: in.Body.Version, Labels: in.Body.Labels,
		Interval: time.Duration(in.Body.IntervalMS) * time.Millisecond,
	}
	return s.joined(ctx, "register", func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
		if in.Body.Sample.IsZero() {
			return r.RegisterRemote(ctx, g, o)
		}
		return r.AdoptRemote(ctx, g, in.Body.Sample, in.Body.Layout, o)
	})
}

// joined calls the registry for a process and tells it what it needs to know. A
// collision is no error here: the answer names the rivals.
func (s *Server) joined(ctx context.Context, name string, call func(context.Context, *registry.Registry) (registry.Process, error)) (wire.Joined, error) {
	return ask(ctx, s.backend, name, func(ctx context.Context, r *registry.Registry) (out wire.Joined, err error) {
		p, err := call(ctx, r)
		if collision, ok := errors.AsType[*registry.CollisionError](err); ok {
			out.Rivals, err = collision.Others, nil
		}
		if err != nil {
			return out, err
		}
		out.GPID, out.Value, out.IntervalMS = p.GPID, p.Value, p.Interval.Milliseconds()
		if p.Value == p.Block {
			out.Block = p.Block
		}
		return out, nil
	})
}

// load reads a heartbeat.
func load(h wire.Heartbeat) registry.Load {
	number := func(n *int64) int64 {
		if n == nil {
			return registry.Unmeasured
		}
		return *n
	}
	return registry.Load{
		CPU: time.Duration(number(h.CPUNS)), RSS: number(h.RSSBytes), Files: number(h.Files),
		Threads: number(h.Threads), Goroutines: number(h.Goroutines), Heap: number(h.HeapBytes),
	}
}

func (s *Server) list(ctx context.Context, in *listInput) (wire.Processes, error) {
	all := func(ctx context.Context, r *registry.Registry) func(func(registry.Status, error) bool) {
		return r.List(ctx)
	}
	if in.Addr != "" {
		addr, err := gpid.ParseAddr(in.Addr)
		if err != nil {
			return wire.Processes{}, err
		}
		all = func(ctx context.Context, r *registry.Registry) func(func(registry.Status, error) bool) {
			return r.At(ctx, addr)
		}
	}
	return ask(ctx, s.backend, "list", func(ctx context.Context, r *registry.Registry) (wire.Processes, error) {
		out := wire.Processes{Processes: []registry.Status{}}
		for p, err := range all(ctx, r) {
			if err != nil {
				return out, err
			}
			if in.State != "" && string(p.State) != in.State {
				continue
			}
			if len(out.Processes) == in.Limit {
				out.More = true
				break
			}
			out.Processes = append(out.Processes, p)
		}
		return out, nil
	})
}

func (s *Server) history(ctx context.Context, in *historyInput) (wire.History, error) {
	from, to, err := timerange.Span{Since: in.Since, To: in.To}.Times(s.options.Now())
	if err != nil {
		return wire.History{}, requestError{err}
	}
	return ask(ctx, s.backend, "history", func(ctx context.Context, r *registry.Registry) (wire.History, error) {
		out := wire.History{Runs: []registry.Status{}, Samples: []registry.Sample{}}
		for p, err := range r.Find(ctx, in.GPID) {
			if err != nil {
				return out, err
			}
			out.Runs = append(out.Runs, p)
		}
		if len(out.Runs) == 0 {
			return out, fmt.Errorf("process %v: %w", in.GPID, store.ErrNotFound)
		}
		for p, err := range r.History(ctx, in.GPID, timeOrZero(from), timeOrZero(to)) {
			if err != nil {
				return out, err
			}
			if len(out.Samples) == in.Limit {
				out.More = true
				break
			}
			out.Samples = append(out.Samples, p)
		}
		return out, nil
	})
}

func timeOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
