// Package lockmetrics makes Prometheus metrics of the events of locks: how long callers wait
// for a lock, how long they hold it, and how often it was refused or lost.
//
// [New] returns the function for the field Events in the Options of an engine:
//
//	locker, err := redislock.Open(ctx, url, &redislock.Options{
//		Events: lockmetrics.New(prometheus.DefaultRegisterer, nil),
//	})
//
// The metrics are listed in docs/reference/metrics.md.
package lockmetrics

import (
	"cmp"
	"errors"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oidkit/oid/lock"
)

// Options tune the metrics.
type Options struct {
	// Label returns the value of the label "lock" for the name of a lock. Set it if names
	// contain an identifier, for example that of a customer: otherwise each customer has
	// metrics of its own. Default: the name or, for a slot of [lock.Slots], the name without
	// the slot.
	Label func(name string) string
	// MaxLabels limits the number of label values. Locks with further values are counted
	// together as [Other]. Default: 100.
	MaxLabels int
}

// Other is the value of the label "lock" for all locks beyond MaxLabels. No lock can have this
// name.
const Other = "{other}"

// New registers the metrics with r and returns a function that counts events. Any number of
// Lockers may use that function, in any number of goroutines. If r already has the metrics from
// another call of New, both functions count in the same metrics. New panics if r has other
// metrics with the same names. o may be nil.
//
// Do not give the function to [lock.LeadOptions], because the Locker already reports the leases
// of Lead.
func New(r prometheus.Registerer, o *Options) func(lock.Event) {
	m := &metrics{options: *cmp.Or(o, &Options{}), labels: make(map[string]bool)}
	m.options.MaxLabels = cmp.Or(m.options.MaxLabels, 100)
	m.events = register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Name: "oid_lock_events_total", Help: "Events of locks, by their kind."}, []string{"lock", "event"}))
	m.wait = register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "oid_lock_wait_seconds", Help: "Time from a call until its lease began.", Buckets: seconds}, []string{"lock"}))
	m.hold = register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "oid_lock_hold_seconds", Help: "Time from the beginning of a lease until it was released or lost.", Buckets: seconds}, []string{"lock"}))
	return m.count
}

// register registers c, or returns the collector of an earlier call.
func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	err := r.Register(c)
	if already := (prometheus.AlreadyRegisteredError{}); errors.As(err, &already) {
		c = already.ExistingCollector.(C)
	} else if err != nil {
		panic(err)
	}
	return c
}

// seconds are the buckets of the histograms, from one request to a day.
var seconds = []float64{.001, .005, .025, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400}

// events are the values of the label "event" that each lock has from its first event on,
// because Prometheus does not see the increase of a counter that begins with 1. They are the
// kinds of events, "refused" for EventFailed if somebody else held the lock, and
// "release-failed" for EventReleased with an error.
var events = []string{"waiting", "unanswered", "refused", "failed", "acquired", "renewed-late", "lost", "released", "release-failed"}

// metrics count the events of one call of [New].
type metrics struct {
	options    Options
	events     *prometheus.CounterVec
	wait, hold *prometheus.HistogramVec

	mu     sync.Mutex
	labels map[string]bool
}

func (m *metrics) count(e lock.Event) {
	label, event := m.label(e.Name), string(e.Kind)
	for _, event := range events {
		m.events.WithLabelValues(label, event)
	}
	wait, hold := m.wait.WithLabelValues(label), m.hold.WithLabelValues(label)
	switch {
	case e.Kind == lock.EventAcquired:
		wait.Observe(e.Took.Seconds())
	case e.Kind == lock.EventLost, e.Kind == lock.EventReleased:
		hold.Observe(e.Took.Seconds())
		if e.Kind == lock.EventReleased && e.Err != nil {
			event = "release-failed"
		}
	case e.Kind == lock.EventFailed && errors.Is(e.Err, lock.ErrHeld):
		event = "refused"
	}
	m.events.WithLabelValues(label, event).Inc()
}

// label returns the label value of a lock.
func (m *metrics) label(name string) string {
	if m.options.Label != nil {
		name = strings.ToValidUTF8(m.options.Label(name), "\uFFFD") // anything else would panic
	} else if !strings.HasSuffix(name, "#queue") {
		name = lock.WithoutSlot(name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.labels[name] && len(m.labels) >= m.options.MaxLabels {
		return Other
	}
	m.labels[name] = true
	return name
}
