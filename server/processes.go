package server

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

type listInput struct {
	State   stateName `query:"state" doc:"Only processes in this state."`
	Address string    `query:"address" maxLength:"64" doc:"Only the runs at this ip:port, which shows its restarts."`
	Limit   int       `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"How many at most."`
}

func (s *Server) addProcesses(api huma.API) {
	handle(s, api, operation(http.MethodGet, "/v1/processes", tagProcesses, "listProcesses", "List processes",
		"Returns the recorded processes, by address and then in the order of their start."), s.list)
	s.mux.HandleFunc("GET /processes", s.showProcesses)
}

func (s *Server) list(ctx context.Context, in *listInput) (wire.Processes, error) {
	all := (*registry.Registry).List
	if in.Address != "" {
		addr, err := gpid.ParseAddr(in.Address)
		if err != nil {
			return wire.Processes{}, err
		}
		all = func(r *registry.Registry, ctx context.Context) iter.Seq2[registry.Status, error] {
			return r.At(ctx, addr)
		}
	}
	return ask(ctx, s.backend, "list", func(ctx context.Context, r *registry.Registry) (wire.Processes, error) {
		out := wire.Processes{Processes: []wire.Process{}}
		for p, err := range all(r, ctx) {
			if err != nil {
				return out, err
			}
			if in.State != "" && string(p.State) != string(in.State) {
				continue
			}
			if len(out.Processes) == in.Limit {
				out.More = true
				break
			}
			out.Processes = append(out.Processes, towire.Process(p))
		}
		return out, nil
	})
}

// processesView is the data of the page with all processes.
type processesView struct {
	State  string
	States []registry.State
	Alive  int
	Rows   []processRow
	More   bool
	Error  string
}

type processRow struct {
	wire.Process
	Started     time.Time
	CPU, Memory plot.SVG
	Processors  string
}

// Bounds of the page.
const (
	maxProcesses = 200
	sparkTime    = 15 * time.Minute
)

func (s *Server) showProcesses(w http.ResponseWriter, r *http.Request) {
	state := r.URL.Query().Get("state")
	data, err := ask(r.Context(), s.backend, "list", func(ctx context.Context, reg *registry.Registry) (v processesView, err error) {
		for p, err := range reg.List(ctx) {
			if err != nil {
				return v, err
			}
			if p.State == registry.Alive {
				v.Alive++
			}
			switch {
			case state != "" && string(p.State) != state:
			case len(v.Rows) == maxProcesses:
				v.More = true
			default:
				row, err := newProcessRow(ctx, reg, p)
				if err != nil {
					return v, err
				}
				v.Rows = append(v.Rows, row)
			}
		}
		return v, nil
	})
	code := http.StatusOK
	if err != nil {
		code = status(err)
		data.Error = s.text(r.Context(), code, err)
	}
	data.State, data.States = state, registry.States
	s.show(w, r, code, "Processes", "/processes", processesPage(&data))
}

// newProcessRow plots the last minutes of a process.
func newProcessRow(ctx context.Context, reg *registry.Registry, p registry.Status) (processRow, error) {
	row := processRow{Process: towire.Process(p), Started: p.GPID.Start()}
	var samples []registry.Sample
	for sample, err := range reg.History(ctx, p.GPID, p.Last.Time.Add(-sparkTime), time.Time{}) {
		if err != nil {
			return row, err
		}
		samples = append(samples, sample)
	}
	row.CPU = plot.Spark("processors in use by "+p.Name, cpuPoints(samples), p.Interval)
	row.Memory = plot.Spark("memory of "+p.Name, memoryPoints(samples), p.Interval)
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

func memoryPoints(samples []registry.Sample) []plot.Point {
	out := make([]plot.Point, len(samples))
	for i, s := range samples {
		out[i] = plot.Point{Time: s.Time, Value: float64(s.RSS)}
	}
	return out
}
