package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/hidden"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
)

type registerInput struct {
	Key  string `header:"Idempotency-Key" minLength:"16" maxLength:"200" pattern:"^[!-~]*$" example:"9f86d081884c7d659a2feaa0c55ad015" doc:"A random text of 16 to 200 printable characters, which makes it safe to send the registration again after a lost response. Registrations with the same key make one member and get the same answer. If pid, address, started, name, host or the process value of the first evidence id differs, the status is 409; all other fields keep the values that were sent first. Default: each request makes a member."`
	Body wire.Registration
	from netip.Addr // where the request comes from; the zero Addr for a Unix socket
}

// Resolve stores the address that the request comes from.
func (in *registerInput) Resolve(c huma.Context) []error {
	if peer, err := netip.ParseAddrPort(c.RemoteAddr()); err == nil {
		in.from = peer.Addr().WithZone("")
	}
	return nil
}

// memberInput is a request about one member, with a body.
type memberInput[Body any] struct {
	Member registry.MemberKey `path:"member" pattern:"^[0-9a-f]{16}$" example:"0a1b2c3d4e5f6071" doc:"Member key, from the answer to the registration."`
	Body   Body
}

type endInput struct {
	Member     registry.MemberKey `path:"member" pattern:"^[0-9a-f]{16}$" example:"0a1b2c3d4e5f6071" doc:"Member key, from the answer to the registration."`
	Reason     string             `query:"reason" maxLength:"200" default:"ended" doc:"Why the process ended, as text for human readers."`
	AgeSeconds float64            `query:"age_seconds" minimum:"0" maximum:"604800" doc:"How long ago the process ended. Default: 0."`
}

func (s *Server) registerProcess(api huma.API, at route) {
	register := operation(at, tagProcesses, "registerProcess", "Register or adopt a process",
		"Records a process. Without evidence ids, the process gets a process block that no other process ever gets, and creates its ids with it. "+
			"With evidence ids, which the process has already created, it is adopted: ids with the same process values are claimed by it, because nothing proves that it created them. "+
			"The answer has the member key, which later requests about the process name. They do not name the GPID, because several processes may have the same one, such as containers with equal pid, port and start time.",
		http.StatusConflict, http.StatusUnsupportedMediaType)
	register.DefaultStatus = http.StatusCreated
	handle(s, api, register, s.register)
}

var sendHeartbeat = describe(tagProcesses, "sendHeartbeat", "Send a heartbeat",
	"Reports that a process is alive, and its load. The process must have registered over this API. After status 404 or 409, register again.",
	func(s *Server, ctx context.Context, in *memberInput[wire.Heartbeat]) (wire.Registered, error) {
		return s.registered(ctx, "heartbeat", in.Member, func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
			return r.Heartbeat(ctx, new(towire.FromHeartbeat(wire.HeartbeatOf{Member: string(in.Member), Heartbeat: in.Body})))
		})
	}, http.StatusNotFound, http.StatusConflict, http.StatusUnsupportedMediaType)

var addEvidence = describe(tagProcesses, "addEvidence", "Add evidence ids",
	"Records further process values of a process, such as those of another client or worker. Each is named by an id that the process has created with it. The process may also be one that `oid adopt` has recorded.",
	func(s *Server, ctx context.Context, in *memberInput[wire.AddedEvidence]) (wire.Registered, error) {
		return s.registered(ctx, "add evidence", in.Member, func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
			return r.AddEvidence(ctx, in.Member, in.Body.EvidenceIDs, towire.Layout(in.Body.Layout))
		})
	}, http.StatusNotFound, http.StatusConflict, http.StatusUnsupportedMediaType)

var sendHeartbeats = describe(tagProcesses, "sendHeartbeats", "Send the heartbeats of many processes",
	"Sends many heartbeats in one request, which costs much less than a request for each. An agent sends the heartbeats of all processes of its host.",
	(*Server).heartbeats, http.StatusUnsupportedMediaType)

var endProcess = describe(tagProcesses, "endProcess", "End a process",
	"Records that a process has ended. The process must have registered over this API. Its record is kept.",
	func(s *Server, ctx context.Context, in *endInput) (wire.Registered, error) {
		return s.registered(ctx, "end", in.Member, func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
			return r.End(ctx, in.Member, in.Reason, towire.Seconds(in.AgeSeconds))
		})
	}, http.StatusNotFound, http.StatusConflict)

type heartbeatsInput struct{ Body wire.Heartbeats }

func (s *Server) heartbeats(ctx context.Context, in *heartbeatsInput) (wire.HeartbeatResults, error) {
	beats := each.Of(in.Body.Heartbeats, towire.FromHeartbeat)
	return ask(ctx, s.backend, "heartbeats", func(ctx context.Context, r *registry.Registry) (out wire.HeartbeatResults, err error) {
		for i, err := range r.Heartbeats(ctx, beats) {
			problem := wire.HeartbeatProblem{Member: in.Body.Heartbeats[i].Member}
			if collision, ok := errors.AsType[*registry.CollisionError](err); ok {
				problem.Rivals = towire.GPIDs(collision.Others)
			}
			if err == nil || problem.Rivals != nil {
				out.Recorded++
			}
			if err == nil {
				continue
			}
			switch {
			case errors.Is(err, store.ErrNotFound):
				err = noMember(beats[i].Member)
			case !isAnswer(err):
				err = errUnavailable
			}
			problem.Status, problem.Detail = statusOf(err), s.text(ctx, err)
			out.Problems = append(out.Problems, problem)
		}
		return out, nil
	})
}

// maxAhead is how far the start time of a process may be in the future.
const maxAhead = time.Hour

func (s *Server) register(ctx context.Context, in *registerInput) (wire.Registered, error) {
	g, err := s.identity(in)
	if err != nil {
		return wire.Registered{}, err
	}
	in.Body.Key = in.Key
	ids, layout, o := towire.FromRegistration(&in.Body)
	if strings.TrimSpace(o.Name) == "" {
		return wire.Registered{}, pure.Wrongf("name %q: want printable characters", o.Name)
	}
	for _, field := range [][2]string{{"host", o.Host}, {"executable", o.Executable}} {
		if strings.ContainsFunc(field[1], hidden.Rune) {
			return wire.Registered{}, pure.Wrongf("%s %q: want printable characters", field[0], field[1])
		}
	}
	return s.registered(ctx, "register", "", func(ctx context.Context, r *registry.Registry) (registry.Process, error) {
		if len(ids) == 0 {
			return r.RegisterRemote(ctx, g, o)
		}
		return r.AdoptRemote(ctx, g, ids, layout, o)
	})
}

// identity returns the GPID of the process that registers.
func (s *Server) identity(in *registerInput) (gpid.GPID, error) {
	addr, err := netip.ParseAddrPort(cmp.Or(in.Body.Address, "127.0.0.1:0"))
	if err != nil {
		return gpid.GPID{}, fmt.Errorf("%w: address %q, want ip:port", gpid.ErrInvalid, in.Body.Address)
	}
	if !isOfOneHost(addr.Addr()) && isOfOneHost(in.from) {
		addr = netip.AddrPortFrom(in.from, addr.Port())
	}
	now := cmp.Or(in.Body.Clock, s.options.Now()) // the start time is by the clock of the process
	started := cmp.Or(in.Body.Started, now)
	if started.After(now.Add(maxAhead)) {
		return gpid.GPID{}, pure.Wrongf("started %s: want a time that is not in the future", started.Format(time.RFC3339))
	}
	return gpid.New(addr, started, int(in.Body.PID))
}

// isOfOneHost reports whether a can be the address of only one host.
func isOfOneHost(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsValid() && !a.IsUnspecified() && !a.IsLoopback()
}

// registered calls the registry about a process and returns the answer for it. key is the
// member key in the request, or empty. A collision is not an error: the answer names the
// rivals.
func (s *Server) registered(ctx context.Context, name string, key registry.MemberKey, call func(context.Context, *registry.Registry) (registry.Process, error)) (wire.Registered, error) {
	return askConnected(ctx, s.backend, name, func(ctx context.Context, c *connected) (wire.Registered, error) {
		p, err := call(ctx, c.registry)
		c.tracer.Forget()
		s.lists.forget()
		s.inspected.forget()
		var rivals []gpid.GPID
		if collision, ok := errors.AsType[*registry.CollisionError](err); ok {
			rivals, err = collision.Others, nil
		}
		if errors.Is(err, store.ErrNotFound) && key != "" {
			err = noMember(key)
		}
		if err != nil {
			return wire.Registered{}, err
		}
		return towire.Registered(p, rivals), nil
	})
}
