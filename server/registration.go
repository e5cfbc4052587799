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
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

type registerInput struct {
	Body   wire.Registration
	remote string
}

// Resolve keeps the address that the request comes from.
func (in *registerInput) Resolve(c huma.Context) []error {
	var err error
	if in.remote, _, err = net.SplitHostPort(c.RemoteAddr()); err != nil {
		in.remote = "127.0.0.1" // it came over a Unix socket
	}
	return nil
}

type heartbeatInput struct {
	GPID gpid.GPID `path:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"Identity of the process: ip:port:start_time:pid."`
	Body wire.Heartbeat
}

type samplesInput struct {
	GPID gpid.GPID `path:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"Identity of the process: ip:port:start_time:pid."`
	Body wire.AddedSamples
}

type endInput struct {
	GPID   gpid.GPID `path:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"Identity of the process: ip:port:start_time:pid."`
	Reason string    `query:"reason" maxLength:"200" default:"ended" doc:"Why it ends, for people."`
}

func (s *Server) addRegistration(api huma.API) {
	const path, one = "/v1/processes", "/v1/processes/{gpid}"
	register := operation(http.MethodPost, path, tagProcesses, "registerProcess", "Register or adopt a process",
		"Records a process. Without a sample the process gets a process block that is never given to another, and creates its ids with it. "+
			"With samples, ids that it has created, its ids are traced to it as claimed: nothing proves that it created them. Send heartbeats from then on.",
		http.StatusConflict, http.StatusUnsupportedMediaType)
	register.DefaultStatus = http.StatusCreated
	handle(s, api, register, s.register)
	handle(s, api, operation(http.MethodPost, one+"/heartbeat", tagProcesses, "sendHeartbeat", "Send a heartbeat",
		"Reports that a process which registered over this API is alive, and its load. After status 404 or 409, register again.",
		http.StatusNotFound, http.StatusConflict, http.StatusUnsupportedMediaType),
		func(ctx context.Context, in *heartbeatInput) (wire.Registered, error) {
			return s.registered(ctx, "heartbeat", func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
				k, err := latest(ctx, r, in.GPID)
				if err != nil {
					return registry.Process{}, err
				}
				return r.Heartbeat(ctx, k, towire.FromLoad(in.Body.Load), in.Body.Clock)
			})
		})
	handle(s, api, operation(http.MethodPost, one+"/samples", tagProcesses, "addSamples", "Add samples",
		"Records further process values of a recorded process, by an id with each: those of another client or worker. The process may be one that `oid adopt` has recorded.",
		http.StatusNotFound, http.StatusConflict, http.StatusUnsupportedMediaType), s.addSamples)
	handle(s, api, operation(http.MethodPost, "/v1/heartbeats", tagProcesses, "sendHeartbeats", "Send the heartbeats of many processes",
		"Does for each of them what the request for one does, at much less cost. An agent sends those of all processes of its host.",
		http.StatusUnsupportedMediaType), s.heartbeats)
	handle(s, api, operation(http.MethodDelete, one, tagProcesses, "endProcess", "End a process",
		"Records the end of a process that registered over this API. Its records stay.",
		http.StatusNotFound, http.StatusConflict),
		func(ctx context.Context, in *endInput) (wire.Registered, error) {
			return s.registered(ctx, "end", func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
				k, err := latest(ctx, r, in.GPID)
				if err != nil {
					return registry.Process{}, err
				}
				return r.End(ctx, k, in.Reason)
			})
		})
}

// addSamples records further process values of a process.
func (s *Server) addSamples(ctx context.Context, in *samplesInput) (wire.Registered, error) {
	layout, err := layoutOf(in.Body.Layout)
	if err != nil {
		return wire.Registered{}, err
	}
	return s.registered(ctx, "add samples", func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
		k, err := latest(ctx, r, in.GPID)
		if err != nil {
			return registry.Process{}, err
		}
		return r.AddSamples(ctx, k, in.Body.Samples, layout)
	})
}

// latest returns the key of the latest registration with a GPID.
func latest(ctx context.Context, r *registry.Registry, g gpid.GPID) (registry.MemberKey, error) {
	var last registry.Status
	for s, err := range r.Find(ctx, g) {
		if err != nil {
			return "", err
		}
		if last.Block == "" || s.Confirmed.After(last.Confirmed) {
			last = s
		}
	}
	return last.Key(), nil // the registry has no member without a key
}

// layoutOf returns the layout with a name; the empty one is the default.
func layoutOf(name string) (layout objectid.Layout, err error) {
	if name == "" {
		return layout, nil
	}
	if err := layout.UnmarshalText([]byte(name)); err != nil {
		return layout, requestError{err}
	}
	return layout, nil
}

type heartbeatsInput struct{ Body wire.Heartbeats }

func (s *Server) heartbeats(ctx context.Context, in *heartbeatsInput) (wire.HeartbeatResults, error) {
	beats, gpids := make([]registry.RemoteHeartbeat, len(in.Body.Heartbeats)), make([]gpid.GPID, len(in.Body.Heartbeats))
	for i, b := range in.Body.Heartbeats {
		var err error
		if gpids[i], err = gpid.Parse(b.GPID); err != nil {
			return wire.HeartbeatResults{}, fmt.Errorf("heartbeat %d: %w", i, err)
		}
		beats[i] = registry.RemoteHeartbeat{Load: towire.FromLoad(b.Load), Clock: b.Clock}
	}
	return ask(ctx, s.backend, "heartbeats", func(ctx context.Context, r *registry.Registry) (out wire.HeartbeatResults, err error) {
		for i, g := range gpids {
			if beats[i].Member, err = latest(ctx, r, g); err != nil {
				return out, err
			}
		}
		for i, err := range r.Heartbeats(ctx, beats) {
			problem := wire.HeartbeatProblem{GPID: gpids[i].String()}
			if collision, ok := errors.AsType[*registry.CollisionError](err); ok {
				for _, g := range collision.Others {
					problem.Rivals = append(problem.Rivals, g.String())
				}
			}
			if err == nil || problem.Rivals != nil {
				out.Recorded++
			}
			if err == nil {
				continue
			}
			if !known(err) {
				err = errUnavailable
			}
			problem.Status = status(err)
			problem.Detail = s.text(ctx, problem.Status, err)
			out.Problems = append(out.Problems, problem)
		}
		return out, nil
	})
}

// maxAhead is how far the clock of a process may be ahead of this one's.
const maxAhead = time.Hour

// Bounds of labels, which are part of every list of processes.
const (
	maxLabelKey   = 100
	maxLabelValue = 200
)

func (s *Server) register(ctx context.Context, in *registerInput) (wire.Registered, error) {
	g, err := s.identity(in)
	if err != nil {
		return wire.Registered{}, err
	}
	b := in.Body
	for key, value := range b.Labels {
		if key == "" || len(key) > maxLabelKey || len(value) > maxLabelValue {
			return wire.Registered{}, requestf("label %.50q: want a key of 1 to %d bytes and a value of up to %d", key, maxLabelKey, maxLabelValue)
		}
		if hasHidden(key) || hasHidden(value) {
			return wire.Registered{}, requestf("label %.50q: want printable characters", key)
		}
	}
	if strings.TrimSpace(b.Name) == "" || hasHidden(b.Name) {
		return wire.Registered{}, requestf("name %q: want printable characters", b.Name)
	}
	if hasHidden(b.Version) {
		return wire.Registered{}, requestf("version %q: want printable characters", b.Version)
	}
	if hasHidden(b.Host) {
		return wire.Registered{}, requestf("host %q: want printable characters", b.Host)
	}
	layout, err := layoutOf(b.Layout)
	if err != nil {
		return wire.Registered{}, err
	}
	o := &registry.RemoteOptions{
		Name: b.Name, Host: b.Host, Version: b.Version, Labels: b.Labels, Interval: time.Duration(b.IntervalSeconds * float64(time.Second)), Clock: b.Clock,
	}
	samples := b.Samples
	if !b.Sample.IsZero() {
		samples = append([]objectid.ID{b.Sample}, samples...)
	}
	return s.registered(ctx, "register", func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
		if len(samples) == 0 {
			return r.RegisterRemote(ctx, g, o)
		}
		return r.AdoptRemote(ctx, g, samples, layout, o)
	})
}

// isHidden reports whether r is not seen, or changes how its neighbours are seen, such
// as a zero-width space or the mark that reverses what follows. With these one name can
// look like another.
func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector) || r == '\u115f' || r == '\u3164'
}

func hasHidden(text string) bool { return strings.ContainsFunc(text, isHidden) }

// shown returns text for people, with a sign in place of each character that is hidden.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if isHidden(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// identity returns the GPID of the process that registers.
func (s *Server) identity(in *registerInput) (gpid.GPID, error) {
	addr := netip.AddrPort{}
	var err error
	if in.Body.Address == "" {
		var ip netip.Addr
		ip, err = netip.ParseAddr(in.remote)
		addr = netip.AddrPortFrom(ip.WithZone(""), 0)
	} else {
		addr, err = netip.ParseAddrPort(in.Body.Address)
	}
	if err != nil {
		return gpid.GPID{}, fmt.Errorf("%w: address %q, want ip:port", gpid.ErrInvalid, in.Body.Address)
	}
	started, now := in.Body.Started, s.options.Now()
	if clock := in.Body.Clock; !clock.IsZero() {
		now = clock // that of the process, by which it started
	}
	if started.IsZero() {
		started = now
	}
	if started.After(now.Add(maxAhead)) {
		return gpid.GPID{}, requestf("started %s: want a time that is not in the future", started.Format(time.RFC3339))
	}
	return gpid.New(addr, started, int(in.Body.PID))
}

// registered calls the registry for a process and returns what the process needs.
// A collision is not an error here: the answer names the rivals.
func (s *Server) registered(ctx context.Context, name string, call func(context.Context, *registry.Registry) (registry.Process, error)) (wire.Registered, error) {
	return ask(ctx, s.backend, name, func(ctx context.Context, r *registry.Registry) (wire.Registered, error) {
		p, err := call(ctx, r)
		s.traces.forget()
		var rivals []gpid.GPID
		if collision, ok := errors.AsType[*registry.CollisionError](err); ok {
			rivals, err = collision.Others, nil
		}
		if err != nil {
			return wire.Registered{}, err
		}
		return towire.Registered(p, rivals), nil
	})
}
