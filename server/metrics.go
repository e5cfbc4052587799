package server

import (
	"context"
	"io"
	"math"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the metrics of Prometheus at /metrics.
type metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	created   prometheus.Counter
	uploaded  prometheus.Counter
	displaced prometheus.Counter
	store     *prometheus.HistogramVec
}

// seconds are the buckets of the histograms. They range from requests that need only memory
// to uploads.
var seconds = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .05, .1, .5, 1, 5, 10, 60, 600}

func newMetrics() *metrics {
	m := &metrics{
		registry:  prometheus.NewRegistry(),
		requests:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "oid_http_requests_total", Help: "Requests answered."}, []string{"route", "method", "code"}),
		duration:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "oid_http_request_duration_seconds", Help: "Time from the arrival of a request to the end of its response.", Buckets: seconds}, []string{"route"}),
		inFlight:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "oid_http_requests_in_flight", Help: "Requests in flight."}),
		created:   prometheus.NewCounter(prometheus.CounterOpts{Name: "oid_ids_created_total", Help: "Ids created."}),
		uploaded:  prometheus.NewCounter(prometheus.CounterOpts{Name: "oid_census_bytes_total", Help: "Bytes read from uploads."}),
		displaced: prometheus.NewCounter(prometheus.CounterOpts{Name: "oid_connections_displaced_total", Help: "Connections that waited for their client and were closed to make room for others."}),
		store:     prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "oid_store_duration_seconds", Help: "Time that a call of the registry takes.", Buckets: seconds}, []string{"call"}),
	}
	m.registry.MustRegister(m.requests, m.duration, m.inFlight, m.created, m.uploaded, m.displaced, m.store,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// gauge adds a metric whose value is computed at every scrape.
func (m *metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

func (s *Server) livez(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") }

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	switch {
	case s.door.Draining():
		say(w, http.StatusServiceUnavailable, "stopping")
	case s.options.Open != nil && s.backend.connected.Load() == nil:
		say(w, http.StatusOK, "ready, but the store does not answer yet")
	default:
		say(w, http.StatusOK, "ready")
	}
}

func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // the client may have disconnected
}

// aliveNow returns the number of processes that are alive, or NaN if the store does not
// answer.
func (s *Server) aliveNow() float64 {
	if n := s.overview(context.Background()).Processes; n != nil {
		return float64(n.Alive)
	}
	return math.NaN()
}

// heldNow returns the number of locks that are held, or NaN if their backend does not answer.
func (s *Server) heldNow() float64 {
	if o := s.overview(context.Background()); o.LocksKnown {
		return float64(len(o.Locks))
	}
	return math.NaN()
}
