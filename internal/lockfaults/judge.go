package lockfaults

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// Report says how a subject behaved under a fault.
type Report struct {
	// Grants is how often the lock was granted.
	Grants int
	// TwoBelievers is how long two workers believed at the same time that they held the lock.
	// Times in which a worker was stopped do not count.
	TwoBelievers time.Duration
	// LateWrites is the number of writes that came after a write of a later lease. With
	// fences, the resource rejects them; without fences, it accepts them.
	LateWrites int
	// Fenced reports whether the subject has fences.
	Fenced bool
	// FencesBack are grants whose fence is not greater than that of an earlier grant. Earlier
	// means that it was complete before the later grant was asked for.
	FencesBack []string
	// Idle is the longest time for which nobody held the lock although somebody waited.
	Idle time.Duration
	// Late is how long an Acquire has returned after its ctx had ended.
	Late time.Duration
	// LateStart is how long a client that was started during the fault took to get a lock
	// that nobody else wanted. It counts from the start of its process. It is 0 if the fault
	// starts no such client.
	LateStart time.Duration
	// LateErrors are the different errors that this client met.
	LateErrors []string
	// Forever are keys in Redis without a TTL.
	Forever []string
	// Left are keys in Redis that still existed one TTL and one second after the last client
	// had gone.
	Left []string
	// Leaks says what a client left in its process after it was closed.
	Leaks []string
	// Crashes says how workers ended that should not have ended.
	Crashes []string
	// Lost are leases that ended before they were released.
	Lost []string
	// Errors are the different errors of Acquire and Release.
	Errors []string
	// Took is how long it took until every worker had held the lock, or 0 if the fault does
	// not measure that.
	Took time.Duration
	// Outage is how long no server accepted writes.
	Outage time.Duration
	// Stall is the longest time by which a timer of the test was late.
	Stall time.Duration
}

// Worst returns a report with the worse of r and other in each field.
func (r Report) Worst(other Report) Report {
	into, from := reflect.ValueOf(&r).Elem(), reflect.ValueOf(other)
	for i := range into.NumField() {
		a, b := into.Field(i), from.Field(i)
		switch {
		case a.Kind() == reflect.Slice && b.Len() > a.Len(), a.CanInt() && b.Int() > a.Int(), a.Kind() == reflect.Bool && b.Bool():
			a.Set(b)
		}
	}
	return r
}

// judge stops the workers and reports what they have done.
func (l *lab) judge() Report {
	l.t.Helper()
	end := time.Now()
	if !l.done.IsZero() {
		end = l.done
	}
	l.stop()
	gone := time.Now()
	r := Report{Outage: l.outage}
	if !l.done.IsZero() {
		r.Took = l.done.Sub(l.began)
	}
	r.Crashes = l.crashes()
	r.Forever = l.forever()
	l.grants(&r, end)
	l.writes(&r)
	l.rest(&r)
	l.lateStart(&r, end)
	for _, s := range l.primaries() {
		time.Sleep(time.Until(gone.Add(l.ttl + time.Second)))
		r.Left = append(r.Left, strings.Fields(s.CLI("KEYS", "*"))...)
	}
	return r
}

// crashes says how workers ended that should not have ended.
func (l *lab) crashes() (all []string) {
	for _, w := range l.workers {
		if w.err != nil && !w.killed {
			last := w.stderr.String()
			first, _, _ := strings.Cut(strings.TrimSpace(last), "\n")
			all = append(all, fmt.Sprintf("%s: %v: %s", w.name, w.err, first))
		}
	}
	return all
}

// primaries returns the servers that have keys after the fault.
func (l *lab) primaries() []*testenv.RedisServer {
	if l.cluster == nil && l.server != nil {
		return []*testenv.RedisServer{l.server}
	}
	return l.cluster
}

// forever returns the keys that have no TTL.
func (l *lab) forever() (keys []string) {
	for _, s := range l.primaries() {
		for key := range strings.FieldsSeq(s.CLI("KEYS", "*")) {
			if s.CLI("PTTL", key) == "-1" {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// belief is a time in which a worker believed to hold the lock.
type belief struct {
	worker   string
	from, to time.Time
}

// beliefs returns the beliefs of all workers, sorted by their beginning, without times in
// which a worker was stopped. The belief of a worker that was killed ends with its last
// write.
func (l *lab) beliefs() []belief {
	var all []belief
	open := make(map[string]*belief)
	finish := func(worker string) {
		if b := open[worker]; b != nil {
			all = append(all, *b)
			delete(open, worker)
		}
	}
	for _, e := range l.events {
		switch e.Kind {
		case acquired:
			finish(e.Worker)
			open[e.Worker] = &belief{e.Worker, e.To, e.To}
		case wrote:
			b := open[e.Worker]
			for _, s := range l.stopped {
				if e.of(s.worker) && b.to.Before(s.to) && e.From.After(s.to) {
					all = append(all, *b)
					b.from = e.From
				}
			}
			b.to = e.From
		case ended:
			finish(e.Worker)
		}
	}
	for worker := range open {
		all = append(all, *open[worker])
	}
	slices.SortFunc(all, func(a, b belief) int { return a.from.Compare(b.from) })
	return all
}

// grants reports who held the lock when, until end.
func (l *lab) grants(r *Report, end time.Time) {
	all := l.beliefs()
	var until time.Time // the latest end of the beliefs so far
	for i, b := range all {
		for _, other := range all[:i] {
			if other.worker != b.worker && other.to.After(b.from) {
				r.TwoBelievers += min(other.to.Sub(b.from), b.to.Sub(b.from))
			}
		}
		if until.Before(l.unwanted) && b.from.After(l.unwanted) {
			until = l.unwanted
		}
		if i > 0 && b.from.After(until) {
			r.Idle = max(r.Idle, b.from.Sub(until))
		}
		if b.to.After(until) {
			until = b.to
		}
	}
	r.Idle = max(r.Idle, end.Sub(until))
	for _, e := range l.events {
		if e.Kind != acquired {
			continue
		}
		r.Grants++
		r.Fenced = r.Fenced || e.Fence > 0
		var highest uint64 // of the grants that were complete before this one was asked for
		for _, before := range l.events {
			if before.Kind == acquired && before.To.Before(e.From) {
				highest = max(highest, before.Fence)
			}
		}
		if e.Fence > 0 && highest >= e.Fence {
			r.FencesBack = append(r.FencesBack, fmt.Sprintf("%s got %d after %d", e.Worker, e.Fence, highest))
		}
	}
}

// writes reports writes that came after a write of a later lease. A write is known by its
// fence or, without fences, by the time of its lease.
func (l *lab) writes(r *Report) {
	type write struct {
		at    time.Time
		under int64
	}
	var writes []write
	under := make(map[string]int64)
	for _, e := range l.events {
		switch e.Kind {
		case acquired:
			under[e.Worker] = cmp.Or(int64(e.Fence), e.To.UnixNano())
		case wrote:
			writes = append(writes, write{e.To, under[e.Worker]})
		}
	}
	slices.SortStableFunc(writes, func(a, b write) int { return a.at.Compare(b.at) })
	var highest int64
	for _, w := range writes {
		if w.under < highest {
			r.LateWrites++
		}
		highest = max(highest, w.under)
	}
}

// rest reports the other events.
func (l *lab) rest(r *Report) {
	for _, e := range l.events {
		switch e.Kind {
		case gaveUp:
			r.Late = max(r.Late, e.Late)
		case closed:
			if e.Goroutines > 0 || e.Files > 0 {
				r.Leaks = append(r.Leaks, fmt.Sprintf("%s: %d goroutines, %d files\n%s", e.Worker, e.Goroutines, e.Files, e.Error))
			}
		}
		if e.Lost != "" {
			r.Lost = append(r.Lost, e.Worker+": "+e.Lost)
		}
		if (e.Kind == gaveUp || e.Kind == ended) && e.Error != "" && !slices.Contains(r.Errors, e.Error) {
			r.Errors = append(r.Errors, e.Error)
		}
	}
}

// lateStart reports the events of the late starter, until end.
func (l *lab) lateStart(r *Report, end time.Time) {
	if l.called.IsZero() {
		return
	}
	for _, e := range l.late {
		switch {
		case e.Kind == acquired:
			end = e.To
		case e.Error != "" && !slices.Contains(r.LateErrors, e.Error):
			r.LateErrors = append(r.LateErrors, e.Error)
		}
	}
	r.LateStart = end.Sub(l.called)
}
