package server

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/timerange"
)

type historyInput struct {
	GPID  gpid.GPID `path:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"Identity of the process: ip:port:start_time:pid."`
	Since string    `query:"since" maxLength:"100" default:"24h" doc:"A duration up to now, or a time."`
	To    string    `query:"to" maxLength:"100" doc:"A time, not included."`
	Limit int       `query:"limit" minimum:"1" maximum:"100000" default:"10000" doc:"How many samples at most."`
}

func (s *Server) addProcess(api huma.API) {
	handle(s, api, operation(http.MethodGet, "/v1/processes/{gpid}", tagProcesses, "getProcess", "Get a process with its history",
		"Returns the records of one process, and the samples of its load.", http.StatusNotFound),
		func(ctx context.Context, in *historyInput) (wire.History, error) {
			h, err := s.history(ctx, in)
			if err != nil {
				return wire.History{}, err
			}
			out := wire.History{Records: towire.Processes(h.records), Samples: make([]wire.Sample, 0, len(h.samples)), More: !h.next.IsZero()}
			if out.More {
				out.Next = h.next.UTC().Format(time.RFC3339Nano)
			}
			for i, sample := range h.samples {
				out.Samples = append(out.Samples, towire.Sample(h.before(i), sample))
			}
			return out, nil
		})
	s.mux.HandleFunc("GET /processes/{gpid}", s.showProcess)
}

// history is one process over time.
type history struct {
	records []registry.Status // one at least
	samples []registry.Sample
	next    time.Time // of the first sample that the limit cut, or zero
}

// before returns the sample before the i-th, or nil.
func (h *history) before(i int) *registry.Sample {
	if i == 0 {
		return nil
	}
	return &h.samples[i-1]
}

func (s *Server) history(ctx context.Context, in *historyInput) (history, error) {
	from, to, err := timerange.Span{Since: in.Since, To: in.To}.Times(s.options.Now().UTC())
	if err != nil {
		return history{}, requestError{err}
	}
	return ask(ctx, s.backend, "history", func(ctx context.Context, r *registry.Registry) (out history, err error) {
		for p, err := range r.Find(ctx, in.GPID) {
			if err != nil {
				return out, err
			}
			out.records = append(out.records, p)
		}
		if len(out.records) == 0 {
			return out, fmt.Errorf("process %v: %w", in.GPID, store.ErrNotFound)
		}
		for _, p := range out.records {
			for sample, err := range r.History(ctx, p.Key(), timeOrZero(from), timeOrZero(to)) {
				if err != nil {
					return out, err
				}
				if len(out.samples) == in.Limit {
					out.next = sample.Time
					return out, nil
				}
				out.samples = append(out.samples, sample)
			}
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

// processView is the data of the page of one process.
type processView struct {
	wire.Process
	Address     netip.AddrPort
	PID         int
	Started     time.Time
	Since       string
	Presets     []preset
	Samples     int
	CPU, Memory plot.SVG
	Queries     []wire.Query
	Example     exampleID
}

// exampleID shows the position of the process value in an id.
type exampleID struct {
	Seconds, Value, Rest string
}

// maxSamples is the maximum for a plot: a week at an interval of 10 s.
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
	last := h.records[len(h.records)-1]
	s.show(w, r, http.StatusOK, shown(last.Name), "/processes", processPage(&processView{
		Process: towire.Process(last), Address: g.Addr(), PID: g.PID(), Started: g.Start(),
		Since: since, Presets: presets, Samples: len(h.samples),
		CPU: plot.Line("processors in use over time", cpuPoints(h.samples), last.Interval, plot.DecimalStep,
			func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }),
		Memory: plot.Line("memory over time", memoryPoints(h.samples), last.Interval, plot.BinaryStep,
			func(v float64) string { return humanize.IBytes(uint64(v)) }),
		Queries: towire.Range(objectid.Between(last.From, last.Until.Add(time.Second)), "_id", last.Value).Queries,
		Example: newExampleID(&last),
	}))
}

func newExampleID(p *registry.Status) exampleID {
	id := objectid.At(p.Last.Time).String()
	return exampleID{id[:8], p.Value, strings.Repeat("·", 24-8-len(p.Value))}
}
