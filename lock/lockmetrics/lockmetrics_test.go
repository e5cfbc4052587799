package lockmetrics_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/lockmetrics"
	"github.com/oidkit/oid/lock/redislock"
)

// metrics are the metrics of one registry.
type metrics struct {
	t        *testing.T
	registry *prometheus.Registry
}

func newMetrics(t *testing.T) metrics { return metrics{t, prometheus.NewPedanticRegistry()} }

// values returns the values of all series by NAME{LABEL}. Those of a histogram are its number
// of values and their sum.
func (m metrics) values() map[string]float64 {
	m.t.Helper()
	all := make(map[string]float64)
	for _, family := range testenv.Must(m.registry.Gather())(m.t) {
		for _, series := range family.GetMetric() {
			var values []string // EVENT LOCK
			for _, label := range series.GetLabel() {
				values = append(values, label.GetValue())
			}
			label := "{" + strings.Join(values, " ") + "}"
			if h := series.GetHistogram(); h != nil {
				all[family.GetName()+"_count"+label] = float64(h.GetSampleCount())
				all[family.GetName()+"_sum"+label] = h.GetSampleSum()
				continue
			}
			all[family.GetName()+label] = series.GetCounter().GetValue()
		}
	}
	return all
}

// want fails the test unless these are all values above 0. Sums only have to be there.
func (m metrics) want(want map[string]float64) {
	m.t.Helper()
	got := m.values()
	for name, value := range got {
		if !strings.Contains(name, "_sum") && value != want[name] {
			m.t.Errorf("%s: %v, want %v", name, value, want[name])
		}
	}
	for name := range want {
		if _, found := got[name]; !found {
			m.t.Errorf("there is no %s", name)
		}
	}
}

// await waits until a metric has a value.
func (m metrics) await(name string, want float64) {
	m.t.Helper()
	for began := time.Now(); m.values()[name] != want; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			m.t.Fatalf("%s: %v, want %v", name, m.values()[name], want)
		}
	}
}

func TestNamesFollowTheConventions(t *testing.T) {
	m := newMetrics(t)
	count := lockmetrics.New(m.registry, nil)
	count(lock.Event{Kind: lock.EventAcquired, Name: "job"})
	problems, err := promlint.NewWithMetricFamilies(testenv.Must(m.registry.Gather())(t)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// Every kind of event of a Locker is counted, and the others are 0 from the
// first event of a lock on, so that Prometheus sees the first increase.
func TestEachKindOfEvent(t *testing.T) {
	boom, told := errors.New("boom"), make(map[string]bool)
	for _, test := range []struct {
		event lock.Event
		want  string
	}{
		{lock.Event{Kind: lock.EventWaiting}, "waiting"},
		{lock.Event{Kind: lock.EventUnanswered, Err: boom}, "unanswered"},
		{lock.Event{Kind: lock.EventFailed, Err: fmt.Errorf("%w: %w", context.DeadlineExceeded, &lock.HeldError{})}, "refused"},
		{lock.Event{Kind: lock.EventFailed, Err: boom}, "failed"},
		{lock.Event{Kind: lock.EventAcquired}, "acquired wait"},
		{lock.Event{Kind: lock.EventRenewedLate}, "renewed-late"},
		{lock.Event{Kind: lock.EventLost, Err: lock.ErrLost}, "lost hold"},
		{lock.Event{Kind: lock.EventReleased}, "released hold"},
		{lock.Event{Kind: lock.EventReleased, Err: boom}, "release-failed hold"},
	} {
		m := newMetrics(t)
		test.event.Name, test.event.Took = "job", 1500*time.Millisecond
		lockmetrics.New(m.registry, nil)(test.event)
		want := map[string]float64{"oid_lock_wait_seconds_count{job}": 0, "oid_lock_hold_seconds_count{job}": 0}
		for event := range strings.FieldsSeq("waiting unanswered refused failed acquired renewed-late lost released release-failed") {
			want["oid_lock_events_total{"+event+" job}"] = 0
		}
		event, histogram, timed := strings.Cut(test.want, " ")
		want["oid_lock_events_total{"+event+" job}"] = 1
		if timed {
			want["oid_lock_"+histogram+"_seconds_count{job}"] = 1
			if sum := m.values()["oid_lock_"+histogram+"_seconds_sum{job}"]; sum != 1.5 {
				t.Errorf("%s: %s %v, want 1.5 seconds", test.want, histogram, sum)
			}
		}
		m.want(want)
		told[string(test.event.Kind)] = true
	}
	for _, m := range regexp.MustCompile(`EventKind = "(.+)"`).FindAllStringSubmatch(string(testenv.Must(os.ReadFile("../event.go"))(t)), -1) {
		if kind := m[1]; !told[kind] && kind != string(lock.EventPaused) { // of Lead
			t.Errorf("no test of an event %s; add it here, and to events if Prometheus should see it as 0", kind)
		}
	}
}

// A journey on a real server: leases, a wait, refusals of both kinds, a loss, a server that is
// gone.
func TestRedis(t *testing.T) {
	server := testenv.Redis(t)
	m := newMetrics(t)
	open := func(ttl time.Duration) lock.Locker {
		l := testenv.Must(redislock.Open(t.Context(), server.URL(), &redislock.Options{TTL: ttl, Events: lockmetrics.New(m.registry, nil)}))(t)
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	a, b := open(time.Minute), open(time.Minute)
	lease := testenv.Must(a.Acquire(t.Context(), "job", nil))(t)
	testenv.WantError(t, "TryAcquire", testenv.ErrOf(b.TryAcquire(t.Context(), "job", nil)), lock.ErrHeld)
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	testenv.WantError(t, "Acquire", testenv.ErrOf(b.Acquire(short, "job", nil)), lock.ErrHeld)
	var next sync.WaitGroup
	next.Go(func() {
		if second, err := b.Acquire(t.Context(), "job", nil); err != nil {
			t.Error(err)
		} else if err := second.Release(); err != nil {
			t.Error(err)
		}
	})
	m.await("oid_lock_events_total{waiting job}", 2)
	testenv.WantError(t, "Release", lease.Release(), nil)
	next.Wait()
	lost := testenv.Must(open(200*time.Millisecond).Acquire(t.Context(), "other", nil))(t)
	server.Kill()
	<-lost.Context().Done()
	m.await("oid_lock_events_total{lost other}", 1)
	if _, err := b.TryAcquire(t.Context(), "job", nil); err == nil || errors.Is(err, lock.ErrHeld) {
		t.Errorf("TryAcquire without a server: %v", err)
	}
	values := m.values()
	for name, want := range map[string]float64{
		"events_total{acquired job}": 2, "wait_seconds_count{job}": 2, "hold_seconds_count{job}": 2, "events_total{waiting job}": 2,
		"events_total{refused job}": 2, "events_total{failed job}": 1, "events_total{lost job}": 0, "events_total{release-failed job}": 0,
		"events_total{acquired other}": 1, "hold_seconds_count{other}": 1, "events_total{lost other}": 1, "events_total{refused other}": 0,
	} {
		if got := values["oid_lock_"+name]; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if wait := values["oid_lock_wait_seconds_sum{job}"]; wait <= 0 || wait > 30 {
		t.Errorf("waited for %v seconds", wait)
	}
}

// However many names there are, and in whatever text, the number of series is bounded, and no
// event is lost.
func TestLabels(t *testing.T) {
	for _, test := range []struct {
		name    string
		options *lockmetrics.Options
		names   []string
		want    map[string]float64
	}{
		{"two and the rest", &lockmetrics.Options{MaxLabels: 2}, []string{"a", "b", "c", "d", "a", "c"}, map[string]float64{"a": 2, "b": 1, lockmetrics.Other: 3}},
		{"a hundred by default", nil, hundreds(), func() map[string]float64 {
			want := map[string]float64{lockmetrics.Other: 101}
			for i := range 100 {
				want[fmt.Sprint("job ", i)] = 1
			}
			return want
		}()},
		{"slots", nil, []string{"job#0", "job#17", "job", "job#queue", "job#x", "#3"}, map[string]float64{"job": 3, "job#queue": 1, "job#x": 1, "#3": 1}},
		{
			"chosen labels", &lockmetrics.Options{Label: func(name string) string { return strings.Split(name, ":")[0] }},
			[]string{"customer:1", "customer:2", "order:1", "job#1"},
			map[string]float64{"customer": 2, "order": 1, "job#1": 1},
		},
		{"odd texts", nil, []string{`a\b`, `"`, "名", "a b", strings.Repeat("x", lock.MaxName)}, map[string]float64{`a\b`: 1, `"`: 1, "名": 1, "a b": 1, strings.Repeat("x", lock.MaxName): 1}},
		{"labels that are no text", &lockmetrics.Options{Label: func(name string) string { return "\xff" + name[:1] }}, []string{"a", "b"}, map[string]float64{"\uFFFDa": 1, "\uFFFDb": 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMetrics(t)
			count := lockmetrics.New(m.registry, test.options)
			for _, name := range test.names {
				count(lock.Event{Kind: lock.EventLost, Name: name})
			}
			got := m.values()
			labels := 0
			for name, value := range got {
				if label, found := strings.CutPrefix(name, "oid_lock_events_total{lost "); found {
					labels++
					if want := test.want[label[:len(label)-1]]; value != want {
						t.Errorf("%s: %v, want %v", name, value, want)
					}
				}
			}
			if labels != len(test.want) {
				t.Errorf("%d labels, want %d", labels, len(test.want))
			}
		})
	}
	testenv.WantError(t, "the name for the rest", lock.CheckName(lockmetrics.Other), lock.ErrInvalid) // no lock has it
}

func hundreds() (names []string) {
	for i := range 201 {
		names = append(names, fmt.Sprint("job ", i))
	}
	return names
}

// Lockers share the metrics of a registry, also if each calls New, in many goroutines.
func TestSharedMetrics(t *testing.T) {
	m := newMetrics(t)
	const goroutines, events = 8, 500
	var all sync.WaitGroup
	shared := lockmetrics.New(m.registry, nil)
	for i := range goroutines {
		all.Go(func() {
			count := shared
			if i%2 == 0 {
				count = lockmetrics.New(m.registry, nil)
			}
			for i := range events {
				count(lock.Event{Kind: lock.EventAcquired, Name: fmt.Sprint("job ", i%150)})
			}
		})
	}
	all.Wait()
	var sum float64
	for name, value := range m.values() {
		if strings.HasPrefix(name, "oid_lock_wait_seconds_count") {
			sum += value
		}
	}
	if sum != goroutines*events {
		t.Errorf("%v events, want %d", sum, goroutines*events)
	}
	// Each service that the program contains may have metrics of its own.
	services := prometheus.NewPedanticRegistry()
	for _, service := range []string{"a", "b", "a"} {
		lockmetrics.New(prometheus.WrapRegistererWith(prometheus.Labels{"service": service}, services), nil)(lock.Event{Kind: lock.EventLost, Name: "job"})
	}
	for _, family := range testenv.Must(services.Gather())(t) {
		if family.GetName() == "oid_lock_hold_seconds" && len(family.GetMetric()) != 2 {
			t.Errorf("%v: want two services", family)
		}
	}
}

// Metrics of another origin with the same names are a mistake of the program.
func TestMetricsOfAnother(t *testing.T) {
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "oid_lock_events_total"}))
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "oid_lock_events_total") {
			t.Errorf("New: %v, want a panic that names oid_lock_events_total", err)
		}
	}()
	lockmetrics.New(r, nil)
}
