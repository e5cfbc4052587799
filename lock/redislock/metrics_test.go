package redislock_test

import (
	"context"
	"log"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

// lockMetrics returns a function for Options.Events that makes metrics of events.
func lockMetrics(r prometheus.Registerer) func(lock.Event) {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lock_events_total", Help: "Events of locks, by kind.",
	}, []string{"event"})
	waits := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "lock_wait_seconds", Help: "Time from Acquire to the lease.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
	})
	r.MustRegister(events, waits)
	return func(e lock.Event) {
		events.WithLabelValues(string(e.Kind)).Inc()
		if e.Kind == lock.EventAcquired {
			waits.Observe(e.Took.Seconds())
		}
	}
}

// Metrics for Prometheus are made from events.
func ExampleOptions_events() {
	locker, err := redislock.Open(context.Background(), "redis://localhost:6379", &redislock.Options{
		Events: lockMetrics(prometheus.DefaultRegisterer),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	l, err := redislock.Open(t.Context(), testenv.Redis(t).URL(), &redislock.Options{Events: lockMetrics(registry)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 3 {
		lease, err := l.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				got[label.GetValue()] = m.GetCounter().GetValue()
			}
			if h := m.GetHistogram(); h != nil {
				got[family.GetName()] = float64(h.GetSampleCount())
			}
		}
	}
	for name, want := range map[string]float64{"acquired": 3, "released": 3, "waiting": 0, "lock_wait_seconds": 3} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
}
