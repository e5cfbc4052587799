package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/page"
	"github.com/oidkit/oid/server/wire"
)

type listInput struct {
	State   string   `query:"state" enum:"alive,late,dead,ended" doc:"Only processes in this state."`
	Name    string   `query:"name" maxLength:"200" doc:"Only processes of this name."`
	Host    string   `query:"host" maxLength:"255" doc:"Only processes on the host of this name."`
	Label   []string `query:"label,explode" maxItems:"20" doc:"Only processes with this label, as name=value; may be repeated."`
	Address string   `query:"address" maxLength:"64" doc:"Only the runs at this ip:port, which shows its restarts."`
	Search  string   `query:"q" maxLength:"200" doc:"Only processes whose name, host, GPID, version, process value or labels (name=value) contain this text, in either case."`
	Limit   int      `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"How many at most."`
	After   string   `query:"after" maxLength:"300" doc:"The next of the page before. Default: the first page."`
}

// query returns what in asks the registry for.
func (in *listInput) query() (q registry.Query, err error) {
	q = registry.Query{Name: in.Name, Host: in.Host, Search: strings.TrimSpace(in.Search), Limit: in.Limit, After: in.After}
	if in.State != "" {
		q.States = []registry.State{registry.State(in.State)}
	}
	for _, label := range in.Label {
		name, value, err := registry.ParseLabel(label)
		if err != nil {
			return q, requestError{err}
		}
		if q.Labels == nil {
			q.Labels = map[string]string{}
		}
		q.Labels[name] = value
	}
	if in.Address != "" {
		q.Addr, err = registry.ParseAddr(in.Address)
	}
	return q, err
}

func (s *Server) listProcesses(api huma.API, at route) {
	handle(s, api, operation(at, tagProcesses, "listProcesses", "List processes",
		"Returns recorded processes, page by page: all of them, or those at an address, by address and then in the order of their start; those in one state in an order of their own, ended and dead ones latest first. A page may have fewer processes than the limit, and none, and a next one."), s.list)
}

func (s *Server) list(ctx context.Context, in *listInput) (wire.Processes, error) {
	q, err := in.query()
	if err != nil {
		return wire.Processes{}, err
	}
	return ask(ctx, s.backend, "list", func(ctx context.Context, r *registry.Registry) (wire.Processes, error) {
		page, err := r.Page(ctx, q)
		return wire.Processes{Processes: towire.Processes(page.Processes), More: page.Next != "", Next: page.Next}, err
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
		State: given.Get("state"), Name: given.Get("name"), Host: given.Get("host"),
		Label: strings.Fields(given.Get("label")), Address: given.Get("address"), Search: given.Get("q"), Limit: maxProcesses, After: given.Get("after"),
	}
	q, err := in.query()
	var found processList
	if err == nil {
		found, err = s.recentList(r.Context(), q)
	}
	data := page.Processes{
		Rows: found.rows, Part: found.next != "" || q.After != "", Labels: given.Get("label"),
		Search: in.Search, State: given.Get("state"), Name: in.Name, Host: in.Host, Address: in.Address,
	}
	var code int
	code, data.Error = s.outcome(r.Context(), err)
	if found.next != "" {
		given.Set("after", found.next)
		data.Next = "/processes?" + given.Encode()
	}
	for _, state := range registry.States {
		data.States = append(data.States, string(state))
	}
	s.show(w, r, code, "Processes", "/processes", s.site.Processes(&data))
}

// processList is a page of processes with their load.
type processList struct {
	rows []page.ProcessRow
	next string
}

// listKey is a page of processes. Its state changes with the processes: a page that a
// browser asks for because of another one is new.
type listKey struct {
	query string
	state uint64 // of the overview
}

const maxLists = 8 // pages that are kept, of up to maxProcesses processes each

// recentList returns a page of processes, which is as old as the overview at most.
func (s *Server) recentList(ctx context.Context, q registry.Query) (processList, error) {
	key := listKey{fmt.Sprint(q), s.overview(ctx).State}
	asked := time.Now()
	if list, ok := s.lists.get(key, asked); ok {
		return list, nil
	}
	list, err := ask(ctx, s.backend, "list", func(ctx context.Context, reg *registry.Registry) (out processList, err error) {
		found, err := reg.Page(ctx, q)
		if err != nil {
			return out, err
		}
		names := towire.Names(found.Processes)
		for i, p := range found.Processes {
			row, err := newProcessRow(ctx, reg, p)
			if err != nil {
				return out, err
			}
			row.Identity = names[i]
			out.rows = append(out.rows, row)
		}
		out.next = found.Next
		return out, nil
	})
	if err == nil {
		s.lists.put(key, list, asked, maxLists)
	}
	return list, err
}

// newProcessRow returns the row of a process with the load of its last minutes.
func newProcessRow(ctx context.Context, reg *registry.Registry, p registry.Status) (page.ProcessRow, error) {
	row := page.ProcessRow{Process: towire.Process(p), Started: p.GPID.Start(), Interval: p.Interval}
	found, err := samples(ctx, reg, p.Key(), p.Last.Time.Add(-sparkTime), time.Time{}, maxSamples)
	row.Load = loadSeries(found)
	return row, err
}
