package lockfaults

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Outcome says how workers fared in one run of an [Episode], or in several.
type Outcome struct {
	Runs int
	// Lasted is how long the fault lasted.
	Lasted time.Duration
	// What became of each role. Lead and Once are empty if the subject has no such functions.
	Holder, Waiter, Newcomer, Lead, Once Fare
	// Unopened is the number of runs in which a newcomer could not connect at its first attempt.
	Unopened int
	// TwoBelievers is how long two workers believed at the same time that they held one lock.
	TwoBelievers time.Duration
	// LateWrites is the number of writes that came after a write of a later lease.
	LateWrites int
	// FencesBack are grants whose fence is not greater than that of an earlier grant.
	FencesBack []string
	// Stops is how often a worker was stopped.
	Stops int
	// Forever are keys in Redis without a TTL.
	Forever []string
	// Crashes says how workers ended that should not have ended.
	Crashes []string
	// Stall is the longest time by which a timer of the test was late.
	Stall time.Duration
}

// Fare is what became of the workers of one role.
type Fare struct {
	// After is how much longer somebody waited than the fault lasted and others held the lock.
	After time.Duration
	// Lost is the number of runs in which a lease ended that a renewal could have kept.
	Lost int
	// GaveUp is the number of runs in which a call returned an error before its ctx had ended.
	GaveUp int
	// Never is the number of runs in which somebody was not served.
	Never int
	// Twice is the number of runs in which a job was run twice.
	Twice int
	// Errors are different errors, for the reader of a log.
	Errors []string
}

// failed notes that a call returned an error early.
func (f *Fare) failed(text string) {
	f.GaveUp = 1
	f.note(text)
}

func (f *Fare) note(text string) {
	text = text[:min(len(text), 150)]
	if !slices.Contains(f.Errors, text) && len(f.Errors) < 5 {
		f.Errors = append(f.Errors, text)
	}
}

// add adds another run.
func (f Fare) add(other Fare) Fare {
	f.After = max(f.After, other.After)
	f.Lost += other.Lost
	f.GaveUp += other.GaveUp
	f.Never += other.Never
	f.Twice += other.Twice
	for _, text := range other.Errors {
		f.note(text)
	}
	return f
}

// Add returns the outcome of the runs of o and other.
func (o Outcome) Add(other Outcome) Outcome {
	return Outcome{
		Runs: o.Runs + other.Runs, Lasted: max(o.Lasted, other.Lasted),
		Holder: o.Holder.add(other.Holder), Waiter: o.Waiter.add(other.Waiter), Newcomer: o.Newcomer.add(other.Newcomer),
		Lead: o.Lead.add(other.Lead), Once: o.Once.add(other.Once), Unopened: o.Unopened + other.Unopened,
		TwoBelievers: max(o.TwoBelievers, other.TwoBelievers), LateWrites: max(o.LateWrites, other.LateWrites),
		FencesBack: append(o.FencesBack, other.FencesBack...), Stops: o.Stops + other.Stops, Forever: append(o.Forever, other.Forever...), Crashes: append(o.Crashes, other.Crashes...), Stall: max(o.Stall, other.Stall),
	}
}

// Unserved is the longest time that somebody may wait after the fault.
const Unserved = 2 * time.Second

// Check fails the test if this project's lock did something in the episode that it must not.
func (e Episode) Check(t testing.TB, o Outcome) {
	t.Helper()
	limit := Unserved + min(o.Stall, TTL)
	for i, f := range []Fare{o.Holder, o.Waiter, o.Newcomer, o.Lead, o.Once} {
		role := []string{"holder", "waiter", "newcomer", "Lead", "Once"}[i]
		if e.Final && (role == "newcomer" || role == "Once") {
			f.GaveUp = 0
		}
		if f.Lost+f.GaveUp+f.Never+f.Twice > 0 {
			t.Errorf("%s: lost %d, gave up %d, never served %d, run twice %d: %s", role, f.Lost, f.GaveUp, f.Never, f.Twice, strings.Join(f.Errors, "; "))
		}
		if f.After > limit {
			t.Errorf("%s: waited %v longer than the fault, want at most %v", role, f.After, limit)
		}
	}
	if o.LateWrites > 0 {
		t.Errorf("%d writes came after one of a later holder", o.LateWrites)
	}
	e.CheckAttack(t, o)
}

// CheckAttack fails the test if this project's lock did something that it must not even if its
// holders are stopped at random. A holder that is stopped between the check of its lease and its
// write does write late: then a resource that compares fences refuses the write.
func (e Episode) CheckAttack(t testing.TB, o Outcome) {
	t.Helper()
	if o.TwoBelievers > 0 {
		t.Errorf("two workers believed to hold a lock for %v", o.TwoBelievers)
	}
	for _, text := range slices.Concat(o.FencesBack, o.Forever, o.Crashes) {
		t.Error(text)
	}
}

// outcome judges one run. The fault was over at over, and free says when the holders of locks
// were told to end after that. keeps reports whether leases that outlive the fault can.
func (l *lab) outcome(s Subject, e Episode, over time.Time, free map[string]time.Time, keeps bool) Outcome {
	o := Outcome{Runs: 1, Forever: l.forever(), Crashes: l.crashes()}
	at := func(lock string) time.Time {
		if t := free[lock]; t.After(over) {
			return t
		}
		return over
	}
	l.fare(&o.Waiter, "patient waiter", acquired, at(keptLock))
	l.fare(&o.Waiter, "waiter", acquired, at(sharedLock))
	l.fare(&o.Newcomer, "caller", acquired, over)
	l.fare(&o.Newcomer, "newcomer", acquired, over)
	if s.Runs {
		for _, name := range []string{"runner", "once 1", "once 2"} {
			if name == "runner" && !keeps {
				continue
			}
			l.fare(&o.Once, name, returned, over)
		}
		l.led(&o.Lead, over, free[ledLock])
	}
	runs := make(map[string]int)
	for _, event := range l.events {
		if event.Kind == acquired {
			runs[event.Lock]++
		}
		if event.Kind == unopened {
			o.Unopened = 1
			o.Newcomer.note("open: " + event.Error)
		}
		if lost := event.Lost; lost != "" && (event.Worker == "holder" && keeps || e.Renews) {
			o.Holder.Lost = 1
			o.Holder.note(event.Worker + ": " + lost)
		}
		if event.Kind == ended && event.Worker == "holder" && event.Lost == "" && keeps && event.Error != "" {
			o.Holder.failed("release: " + event.Error)
		}
	}
	for _, lock := range []string{jobLock, longLock} {
		if runs[lock] > 1 {
			o.Once.Twice = 1
		}
		if s.Runs && runs[lock] == 0 && o.Once.GaveUp == 0 {
			o.Once.Never = 1
		}
	}
	for lock := range runs {
		var r Report
		view := &lab{stopped: l.stopped, events: slices.DeleteFunc(slices.Clone(l.events), func(e event) bool { return e.Lock != lock })}
		view.grants(&r, over)
		view.writes(&r)
		o.TwoBelievers = max(o.TwoBelievers, r.TwoBelievers)
		o.LateWrites = max(o.LateWrites, r.LateWrites)
		o.FencesBack = append(o.FencesBack, r.FencesBack...)
	}
	return o
}

// fare judges when a worker was served, which was possible from a time on.
func (l *lab) fare(f *Fare, name, kind string, from time.Time) {
	done := false
	for _, e := range l.events {
		switch {
		case e.Worker != name:
		case e.Early && e.Error != "":
			f.failed(name + ": " + e.Error)
			done = done || e.Kind == kind
		case e.Kind == kind && !done:
			done = true
			f.After = max(f.After, e.To.Sub(from))
		}
	}
	if !done {
		f.Never = 1
		f.note(name + ": never")
	}
}

// led judges the leaders. There must be one soon after the fault, and another soon after that
// has ended.
func (l *lab) led(f *Fare, over, ended time.Time) {
	var first, second time.Time
	for _, e := range l.events {
		switch {
		case e.Lock != ledLock:
		case e.Kind == returned && e.Early:
			f.failed(fmt.Sprintf("%s ended: %s", e.Worker, e.Error))
		case e.Kind == wrote && e.From.After(over) && (first.IsZero() || e.From.Before(first)):
			first = e.From
		case e.Kind == acquired && !ended.IsZero() && e.To.After(ended) && (second.IsZero() || e.To.Before(second)):
			second = e.To
		}
	}
	if first.IsZero() || second.IsZero() {
		f.Never = 1
		f.note("no leader")
		return
	}
	f.After = max(first.Sub(over), second.Sub(ended))
}
