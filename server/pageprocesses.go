package server

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/timerange"
)

// processesView is what the view shows.
type processesView struct {
	State  string
	States []registry.State
	Alive  int
	Rows   []processRow
	More   bool
	Error  string
}

type processRow struct {
	registry.Status
	CPU, Memory template.HTML
	Processors  string
}

// processView is what the page of one process shows.
type processView struct {
	registry.Status
	Joins       int // how often it joined
	Since       string
	Picked      []preset
	Samples     int
	CPU, Memory template.HTML
	Queries     []wire.Query
	Sample      exampleID
}

// exampleID shows where the process value stands in an id.
type exampleID struct {
	Seconds, Value, Rest string
}

// Bounds of what the page shows.
const (
	maxProcesses = 200
	sparkTime    = 15 * time.Minute
)

func (s *Server) addProcessPages() {
	s.mux.HandleFunc("GET /processes", s.showProcesses)
	s.mux.HandleFunc("GET /processes/{gpid}", s.showProcess)
}

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
				v.Rows = append(v.Rows, processRow{Status: p})
			}
		}
		return v, addSparks(ctx, reg, v.Rows)
	})
	code := http.StatusOK
	if err != nil {
		code = status(err)
		data.Error = s.text(r.Context(), code, err)
	}
	data.State, data.States = state, states
	s.show(w, r, code, "processes", "Processes", "/processes", data)
}

var states = registry.States

// addSparks draws the last minutes of each process.
func addSparks(ctx context.Context, reg *registry.Registry, rows []processRow) error {
	for i := range rows {
		p := &rows[i]
		until := p.Last.Time
		var samples []registry.Sample
		for sample, err := range reg.History(ctx, p.GPID, until.Add(-sparkTime), time.Time{}) {
			if err != nil {
				return err
			}
			samples = append(samples, sample)
		}
		p.CPU = plot.Spark("processors in use by "+p.Name, cpuPoints(samples), p.Interval)
		p.Memory = plot.Spark("memory of "+p.Name, memoryPoints(samples), p.Interval)
		if n := len(samples); n > 1 {
			if used := registry.Processors(samples[n-2], samples[n-1]); used >= 0 {
				p.Processors = fmt.Sprintf("%.2f", used)
			}
		}
	}
	return nil
}

// maxSamples bounds what one plot is made of: a week at an interval of 10 s.
const maxSamples = 70_000

func (s *Server) showProcess(w http.ResponseWriter, r *http.Request) {
	g, err := gpid.Parse(r.PathValue("gpid"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	since := r.URL.Query().Get("since")
	if since == "" {
		since = "1h"
	}
	h, err := s.history(r.Context(), &historyInput{GPID: g, Since: since, Limit: maxSamples})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	last := h.Runs[len(h.Runs)-1]
	s.show(w, r, http.StatusOK, "process", last.Name, "/processes", processView{
		Status: last, Joins: len(h.Runs), Since: since, Picked: presets, Samples: len(h.Samples),
		CPU: plot.Line("processors in use over time", cpuPoints(h.Samples), last.Interval, plot.DecimalStep,
			func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }),
		Memory: plot.Line("memory over time", memoryPoints(h.Samples), last.Interval, plot.BinaryStep,
			func(v float64) string { return size(int64(v)) }),
		Queries: idsOf(&last),
		Sample:  example(&last),
	})
}

// idsOf returns queries for the documents whose ids a process made: in its time,
// and with its value after the 8 digits of the time.
func idsOf(p *registry.Status) []wire.Query {
	r := objectid.Between(p.From, p.Until.Add(time.Second))
	n := len(p.Value)
	var out []wire.Query
	for _, f := range timerange.Forms {
		var text string
		switch where := f.Write(r, "_id"); f.Name {
		case "mongosh":
			text = strings.TrimSuffix(where, " }") +
				fmt.Sprintf(`, $expr: { $eq: [ { $substrBytes: [ { $toString: "$_id" }, 8, %d ] }, "%s" ] } }`, n, p.Value)
		case "sql":
			text = fmt.Sprintf("%s AND substr(hex(_id), 9, %d) = '%s'", where, n, strings.ToUpper(p.Value))
		case "postgres":
			text = fmt.Sprintf("%s AND substr(encode(_id, 'hex'), 9, %d) = '%s'", where, n, p.Value)
		default:
			continue
		}
		out = append(out, wire.Query{For: f.Name, About: f.About, Text: text})
	}
	return out
}

func example(p *registry.Status) exampleID {
	id := objectid.At(p.Last.Time).String()
	return exampleID{id[:8], p.Value, strings.Repeat("·", 24-8-len(p.Value))}
}
