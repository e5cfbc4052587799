package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// counts are the counters of an agent.
type counts struct {
	refused, recorded *prometheus.CounterVec
	dropped           prometheus.Counter
}

// addMetrics adds the metrics of the agent to Options.Metrics.
func (a *agent) addMetrics() {
	f := promauto.With(a.Metrics)
	a.counts = counts{
		f.NewCounterVec(prometheus.CounterOpts{Name: "oid_agent_refused_total", Help: "Lines and connections that were refused, by reason."}, []string{"reason"}),
		f.NewCounterVec(prometheus.CounterOpts{Name: "oid_agent_recorded_total", Help: "Processes, heartbeats and ends that were recorded."}, []string{"what"}),
		f.NewCounter(prometheus.CounterOpts{Name: "oid_agent_heartbeats_dropped_total", Help: "Heartbeats that were dropped because too many waited."}),
	}
	for _, r := range Reasons { // so that a series begins with 0
		a.counts.refused.WithLabelValues(string(r))
	}
	for _, what := range []string{"process", "heartbeat", "end"} {
		a.counts.recorded.WithLabelValues(what)
	}
	gauge := func(o prometheus.GaugeOpts, value func() float64) {
		f.NewGaugeFunc(o, func() float64 {
			a.mu.Lock()
			defer a.mu.Unlock()
			return value()
		})
	}
	gauge(prometheus.GaugeOpts{Name: "oid_agent_processes", Help: "Processes that run."}, func() float64 { return float64(len(a.pidfds)) })
	gauge(prometheus.GaugeOpts{Name: "oid_agent_connections", Help: "Open connections of programs."}, func() float64 { return float64(len(a.conns)) })
	gauge(prometheus.GaugeOpts{Name: "oid_agent_heartbeats_waiting", Help: "Heartbeats that are to be recorded."}, func() float64 { return float64(len(a.queue)) })
	for p := range parts {
		gauge(prometheus.GaugeOpts{
			Name: "oid_agent_failing_seconds", Help: "How long the store, the socket or the state file has been failing; 0 while it works.",
			ConstLabels: prometheus.Labels{"part": parts[p].name},
		}, func() float64 {
			if a.fails(part(p)) {
				return time.Since(a.failing[p]).Seconds()
			}
			return 0
		})
	}
}
