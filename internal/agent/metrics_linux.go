package agent

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// counts are the metrics of an agent.
type counts struct {
	refused   *prometheus.CounterVec
	processes prometheus.Gauge // set by due
	failing   *prometheus.GaugeVec
}

// addMetrics adds the metrics of the agent to Options.Metrics.
func (a *agent) addMetrics() {
	f := promauto.With(a.Metrics)
	a.counts = counts{
		f.NewCounterVec(prometheus.CounterOpts{Name: "oid_agent_refused_total", Help: "Lines and connections that were refused, by reason."}, []string{"reason"}),
		f.NewGauge(prometheus.GaugeOpts{Name: "oid_agent_processes", Help: "Processes that run, and those whose end is to be recorded."}),
		f.NewGaugeVec(prometheus.GaugeOpts{Name: "oid_agent_failing", Help: "1 while the store, the socket or the state file fails, otherwise 0."}, []string{"part"}),
	}
	for _, r := range Reasons { // so that a series begins with 0
		a.counts.refused.WithLabelValues(string(r))
	}
	for _, p := range parts {
		a.counts.failing.WithLabelValues(p.name)
	}
}
