package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
)

type listInput struct {
	State   string   `query:"state" enum:"alive,late,dead,ended" doc:"Only processes in this state."`
	Name    string   `query:"name" maxLength:"200" doc:"Only processes with this name."`
	Host    string   `query:"host" maxLength:"255" doc:"Only processes on the host with this name."`
	Label   []string `query:"label,explode" maxItems:"20" doc:"Only processes with this label, as name=value, such as k8s.pod.name=shop-1; may be repeated. service.name, service.version, host.name and service.instance.id also select by name, version, host and instance_id."`
	Address string   `query:"address" maxLength:"64" doc:"Only processes at this ip:port: the restarts of one service."`
	Search  string   `query:"q" maxLength:"200" doc:"Only processes whose name, host, GPID, version, process value or labels (name=value) contain this text. Upper and lower case are the same."`
	Limit   int      `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Maximum number of processes in the page."`
	After   string   `query:"after" maxLength:"300" doc:"The value of next in the previous page. Default: the first page."`
}

// query returns the registry's query for in.
func (in *listInput) query() (q registry.Query, err error) {
	q = registry.Query{Name: in.Name, Host: in.Host, Search: strings.TrimSpace(in.Search), Limit: in.Limit, After: in.After}
	if in.State != "" {
		q.States = []registry.State{registry.State(in.State)}
	}
	if q.Labels, err = registry.ParseLabels(in.Label); err != nil {
		return q, pure.Wrong(err)
	}
	if in.Address != "" {
		q.Addr, err = registry.ParseAddr(in.Address)
	}
	return q, err
}

var listProcesses = describe(tagProcesses, "listProcesses", "List processes",
	"Returns recorded processes, page by page. They are sorted by address and then by start time. With state=ended or state=dead the latest come first; with another state the order is not specified. A page may have fewer processes than the limit, even none, and still have a next one.", (*Server).list)

func (s *Server) list(ctx context.Context, in *listInput) (wire.Processes, error) {
	q, err := in.query()
	if err != nil {
		return wire.Processes{}, err
	}
	return ask(ctx, s.backend, "list", func(ctx context.Context, r *registry.Registry) (wire.Processes, error) {
		found, err := r.List(ctx, q)
		return wire.Processes{Processes: towire.Processes(found.Processes), Next: found.Next}, err
	})
}

// Bounds of the page.
const (
	maxProcesses = 100
	sparkTime    = 15 * time.Minute
)

func (s *Server) showProcesses(w http.ResponseWriter, r *http.Request) {
	given := r.URL.Query()
	in := listInput{
		State: given.Get("state"), Search: given.Get("q"), Limit: maxProcesses, After: given.Get("after"),
	}
	q, err := in.query()
	var found processList
	if err == nil {
		found, err = s.recentList(r.Context(), q)
	}
	data := page.Processes{
		Rows: found.rows, Part: found.next != "" || q.After != "", Search: in.Search, State: in.State,
	}
	code := s.outcome(r.Context(), err, &data.Error)
	if found.next != "" {
		given.Set("after", found.next)
		data.Next = "/processes?" + given.Encode()
	}
	data.States = each.Of(registry.States(), func(state registry.State) string { return string(state) })
	s.show(w, r, code, page.Frame{Title: "Processes", Current: "/processes", Contents: s.site.Processes(&data)})
}

// processList is one page of the list of processes, with their load.
type processList struct {
	rows []page.ProcessRow
	next string
}

// listKey names a page of the list of processes. A browser asks for a page again when the
// state of the overview has changed; since the key has the state, it then gets a new page.
type listKey struct {
	query string
	state uint64 // see page.Overview
}

const maxLists = 8 // how many pages are kept, of up to maxProcesses processes each

// recentList returns a page of the list. It is not older than the overview.
func (s *Server) recentList(ctx context.Context, q registry.Query) (processList, error) {
	key := listKey{fmt.Sprint(q), s.overview(ctx).State}
	asked := time.Now()
	if list, ok := s.lists.get(key, asked); ok {
		return list, nil
	}
	list, err := ask(ctx, s.backend, "list", func(ctx context.Context, reg *registry.Registry) (out processList, err error) {
		found, err := reg.List(ctx, q)
		if err != nil {
			return out, err
		}
		names := towire.Names(found.Processes)
		for i, p := range found.Processes {
			latest, err := readSamples(ctx, reg, p.Key(), p.Last.Time.Add(-sparkTime), time.Time{}, maxSamples)
			if err != nil {
				return out, err
			}
			out.rows = append(out.rows, page.ProcessRow{Process: towire.Process(p), Identity: names[i], Started: p.GPID.Start(), Load: loadSeries(latest), Interval: p.Interval})
		}
		out.next = found.Next
		return out, nil
	})
	if err == nil {
		s.lists.put(key, list, asked, maxLists)
	}
	return list, err
}

type historyInput struct {
	GPID   gpid.GPID          `path:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"GPID of the process: ip:port:start_time:pid."`
	Member registry.MemberKey `query:"member" pattern:"^[0-9a-f]{16}$" example:"0a1b2c3d4e5f6071" doc:"Only the member with this key. Default: all members with the GPID."`
	Since  string             `query:"since" maxLength:"100" default:"24h" doc:"The load since this time, or in a duration up to now."`
	To     string             `query:"to" maxLength:"100" doc:"The load before this time. Default: up to now."`
	Limit  int                `query:"limit" minimum:"1" maximum:"100000" default:"10000" doc:"Maximum number of load samples. More are returned if several members have a sample of the same time."`
}

var getProcess = describe(tagProcesses, "getProcess", "Get a process with its history",
	"Returns the members with this GPID and the samples of their load. There are several members if the process has registered several times, or if processes on different hosts have the same GPID.",
	func(s *Server, ctx context.Context, in *historyInput) (wire.History, error) {
		members, err := s.members(ctx, in.GPID, in.Member)
		if err != nil {
			return wire.History{}, err
		}
		return s.history(ctx, members, in)
	}, http.StatusNotFound)

// members returns the members with a GPID. If key is not empty, it returns only the one with
// this key. If there is none, it returns an error.
func (s *Server) members(ctx context.Context, g gpid.GPID, key registry.MemberKey) ([]registry.Status, error) {
	return ask(ctx, s.backend, "process", func(ctx context.Context, r *registry.Registry) (found []registry.Status, err error) {
		for p, err := range r.All(ctx, registry.Query{GPID: g}) {
			if err != nil {
				return nil, err
			}
			if key == "" || key == p.Key() {
				found = append(found, p)
			}
		}
		if found == nil {
			err = noProcess(g, key)
		}
		return found, err
	})
}

// noProcess is the error for a GPID that is not recorded. If key is not empty, it is the
// error for a GPID that has no member with this key.
func noProcess(g gpid.GPID, key registry.MemberKey) error {
	of := ""
	if key != "" {
		of = " and the member key " + string(key)
	}
	return pure.As(fmt.Errorf("no process with the GPID %v%s is recorded; see the list of processes", g, of), store.ErrNotFound)
}

// readSamples returns the load samples of a member from one time until before another, up to
// limit of them.
func readSamples(ctx context.Context, r *registry.Registry, of registry.MemberKey, from, to time.Time, limit int) (all []registry.Sample, err error) {
	for sample, err := range r.History(ctx, of, from, to) {
		if err != nil {
			return nil, err
		}
		if all = append(all, sample); len(all) == limit {
			break
		}
	}
	return all, nil
}

// times returns the time range of in.
func (in *historyInput) times(now time.Time) (from, to time.Time, err error) {
	span := timerange.Span{Since: in.Since, To: in.To}
	if _, err := time.Parse(time.RFC3339Nano, in.Since); err == nil { // it may be a next value, which may be ahead of the clock
		span = timerange.Span{From: in.Since, To: in.To}
	}
	since, until, err := span.Times(now.UTC())
	if err != nil {
		return from, to, pure.Wrong(err)
	}
	return *cmp.Or(since, &from), *cmp.Or(until, &to), nil
}

// history returns members with their load samples in order of time. Samples of the same time
// are returned together, even beyond the limit.
func (s *Server) history(ctx context.Context, members []registry.Status, in *historyInput) (wire.History, error) {
	from, to, err := in.times(s.options.Now())
	if err != nil {
		return wire.History{}, err
	}
	return ask(ctx, s.backend, "history", func(ctx context.Context, r *registry.Registry) (wire.History, error) {
		out := wire.History{Processes: towire.Processes(members), Samples: []wire.Sample{}}
		for _, m := range members {
			found, err := readSamples(ctx, r, m.Key(), from, to, in.Limit+1)
			if err != nil {
				return out, err
			}
			var before *registry.Sample
			for i := range found {
				out.Samples = append(out.Samples, towire.Sample(m.Key(), before, found[i]))
				before = &found[i]
			}
			slices.SortStableFunc(out.Samples, func(a, b wire.Sample) int { return a.Time.Compare(b.Time) })
			n := in.Limit
			for n < len(out.Samples) && out.Samples[n].Time.Equal(out.Samples[n-1].Time) {
				n++
			}
			if n < len(out.Samples) {
				to, out.Samples = out.Samples[n].Time, out.Samples[:n]
				out.Next = to.UTC().Format(time.RFC3339Nano)
			}
		}
		return out, nil
	})
}

// maxSamples is the maximum number of samples in a plot: a week at an interval of 10 s.
const maxSamples = 70_000

func (s *Server) showProcess(w http.ResponseWriter, r *http.Request) {
	g, err := gpid.Parse(r.PathValue("gpid"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	q := r.URL.Query()
	since := cmp.Or(q.Get("since"), "1h")
	members, err := s.members(r.Context(), g, "")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	one := slices.MaxFunc(members, func(a, b registry.Status) int { return a.Last.Time.Compare(b.Last.Time) })
	if key := q.Get("member"); key != "" {
		i := slices.IndexFunc(members, func(p registry.Status) bool { return string(p.Key()) == key })
		if i < 0 {
			s.fail(w, r, noProcess(g, registry.MemberKey(key)))
			return
		}
		one = members[i]
	}
	from, to, err := (&historyInput{Since: since}).times(s.options.Now())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	found, err := ask(r.Context(), s.backend, "history", func(ctx context.Context, reg *registry.Registry) ([]registry.Sample, error) {
		return readSamples(ctx, reg, one.Key(), from, to, maxSamples)
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, page.Frame{Title: phrase.Shown(one.Name), Current: "/processes", Contents: s.site.Process(&page.Process{
		Process: towire.Process(one), Members: towire.Processes(members), Address: g.Addr(), PID: g.PID(), Started: g.Start(),
		Since: since, Samples: len(found), Load: loadSeries(found), Interval: one.Interval,
		Queries: pure.Range(objectid.Between(one.From, one.Until.Add(time.Second)), "_id", one.Value).Queries,
	})})
}

// loadSeries returns a series for each kind of load that was measured in samples.
func loadSeries(samples []registry.Sample) (out []page.Series) {
	for _, f := range registry.LoadFields() {
		s := page.Series{Title: f.Title, Unit: page.Things, Points: make([]plot.Point, len(samples))}
		measured := false
		for i := range samples {
			v := float64(*f.Of(&samples[i].Load))
			switch f.Unit {
			case registry.Nanoseconds: // the first sample has none
				s.Title, s.Unit, v = "processors", page.Processors, registry.CPUUsed(&samples[max(i-1, 0)], &samples[i])
			case registry.Bytes:
				s.Unit = page.Bytes
			}
			s.Points[i] = plot.Point{Time: samples[i].Time, Value: v}
			measured = measured || v >= 0
		}
		if measured {
			out = append(out, s)
		}
	}
	return out
}
