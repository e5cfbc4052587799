package server

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

type listInput struct {
	State   stateName `query:"state" doc:"Only processes in this state."`
	Name    string    `query:"name" maxLength:"200" doc:"Only processes of this name."`
	Host    string    `query:"host" maxLength:"255" doc:"Only processes on the host of this name."`
	Label   []string  `query:"label,explode" maxItems:"20" doc:"Only processes with this label, as name=value; may be repeated."`
	Address string    `query:"address" maxLength:"64" doc:"Only the runs at this ip:port, which shows its restarts."`
	Search  string    `query:"q" maxLength:"200" doc:"Only processes whose name, host, GPID, version, process value or labels (name=value) contain this text, in either case."`
	Limit   int       `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"How many at most."`
	After   string    `query:"after" maxLength:"300" doc:"The next of the page before. Default: the first page."`
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

// processesView is the data of the page with all processes.
type processesView struct {
	listInput
	Labels string // those of listInput, separated by blanks
	States []registry.State
	Alive  int64
	Rows   []processRow
	Next   string // path of the next page, or empty
	Error  string
}

type processRow struct {
	wire.Process
	Identity    string // its GPID, with the member key where others of the page have the same
	Started     time.Time
	CPU, Memory plot.SVG
	Processors  string
}

// Bounds of the page.
const (
	maxProcesses = 100
	sparkTime    = 15 * time.Minute
)

func (s *Server) showProcesses(w http.ResponseWriter, r *http.Request) {
	given := r.URL.Query()
	in := listInput{
		State: stateName(given.Get("state")), Name: given.Get("name"), Host: given.Get("host"),
		Label: strings.Fields(given.Get("label")), Address: given.Get("address"), Search: given.Get("q"), Limit: maxProcesses, After: given.Get("after"),
	}
	q, err := in.query()
	var data processesView
	if err == nil {
		data, err = ask(r.Context(), s.backend, "list", func(ctx context.Context, reg *registry.Registry) (v processesView, err error) {
			page, err := reg.Page(ctx, q)
			if err != nil {
				return v, err
			}
			names := towire.Names(page.Processes)
			for i, p := range page.Processes {
				row, err := newProcessRow(ctx, reg, p)
				if err != nil {
					return v, err
				}
				row.Identity = names[i]
				v.Rows = append(v.Rows, row)
			}
			if page.Next != "" {
				next := maps.Clone(given)
				next.Set("after", page.Next)
				v.Next = "/processes?" + next.Encode()
			}
			v.Alive, err = countAlive(ctx, reg)
			return v, err
		})
	}
	code := http.StatusOK
	if err != nil {
		code = status(err)
		data.Error = s.text(r.Context(), err)
	}
	data.listInput, data.Labels, data.States = in, given.Get("label"), registry.States
	s.show(w, r, code, "Processes", "/processes", processesPage(&data))
}

// countAlive returns how many processes are alive. Of more than a thousand living
// ones it counts those that the last sweep has left.
func countAlive(ctx context.Context, r *registry.Registry) (int64, error) {
	const exact = 1000
	page, err := r.Page(ctx, registry.Query{States: []registry.State{registry.Alive}, Limit: exact})
	if err != nil || page.Next == "" {
		return int64(len(page.Processes)), err
	}
	return r.CountLiving(ctx)
}

// newProcessRow plots the last minutes of a process.
func newProcessRow(ctx context.Context, reg *registry.Registry, p registry.Status) (processRow, error) {
	row := processRow{Process: towire.Process(p), Started: p.GPID.Start()}
	var samples []registry.Sample
	for sample, err := range reg.History(ctx, p.Key(), p.Last.Time.Add(-sparkTime), time.Time{}) {
		if err != nil {
			return row, err
		}
		samples = append(samples, sample)
	}
	row.CPU = plot.Spark("processors in use by "+p.Name, cpuPoints(samples), p.Interval)
	row.Memory = plot.Spark("memory of "+p.Name, loadPoints(samples, func(l *registry.Load) *int64 { return &l.RSS }), p.Interval)
	if n := len(samples); n > 1 {
		if used := registry.Processors(samples[n-2], samples[n-1]); used >= 0 {
			row.Processors = strconv.FormatFloat(used, 'f', 2, 64)
		}
	}
	return row, nil
}

// cpuPoints are the processors in use between samples.
func cpuPoints(samples []registry.Sample) []plot.Point {
	var out []plot.Point
	for i := 1; i < len(samples); i++ {
		out = append(out, plot.Point{Time: samples[i].Time, Value: registry.Processors(samples[i-1], samples[i])})
	}
	return out
}

// loadPoints are a number of the load in each sample.
func loadPoints(samples []registry.Sample, of func(*registry.Load) *int64) []plot.Point {
	out := make([]plot.Point, len(samples))
	for i := range samples {
		out[i] = plot.Point{Time: samples[i].Time, Value: float64(*of(&samples[i].Load))}
	}
	return out
}
