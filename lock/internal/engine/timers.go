package engine

import (
	"sync"
	"time"
)

// Timers runs tasks when they are due. It has one timer for all of them,
// because most leases end long before their first renewal: adding and removing
// one costs a few pointers. The zero Timers is ready to use, and any number of
// goroutines may share one.
type Timers struct {
	mu    sync.Mutex
	all   Timer // head of a ring
	timer *time.Timer
	next  time.Time // when the timer fires; zero if it is not set
}

// Timer is a task that [Timers] runs once, unless it is stopped. The zero Timer is
// ready to use.
type Timer struct {
	before, after *Timer
	due           time.Time
	task          Task
}

// Task is what a [Timer] runs. It is not a function because one that belongs to a
// value has to be allocated.
type Task interface{ Run() }

// Set makes task run in a goroutine of its own at d after now, and forgets what was
// set before. It may run up to a sixteenth of d early, so that many are served at
// once.
func (s *Timers) Set(r *Timer, now time.Time, d time.Duration, task Task) {
	due := now.Add(d)
	if step := d / 16; step > 0 {
		due = due.Add(-time.Duration(due.UnixNano() % int64(step)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all.after == nil {
		s.all.before, s.all.after = &s.all, &s.all
	}
	if r.after == nil {
		r.before, r.after = s.all.before, &s.all
		r.before.after, r.after.before = r, r
	}
	r.due, r.task = due, task
	s.arm(due)
}

// Stop forgets r. A task that has begun goes on.
func (s *Timers) Stop(r *Timer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.remove()
}

func (r *Timer) remove() {
	if r.after != nil {
		r.before.after, r.after.before = r.after, r.before
		r.before, r.after = nil, nil
	}
}

// arm sets the timer to due if it would fire later. It is called with mu held.
func (s *Timers) arm(due time.Time) {
	switch {
	case !s.next.IsZero() && !due.Before(s.next):
		return
	case s.timer == nil:
		s.timer = time.AfterFunc(time.Until(due), s.fire)
	default:
		s.timer.Reset(time.Until(due))
	}
	s.next = due
}

// fire runs what is due and sets the timer for the rest.
func (s *Timers) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.next = time.Time{}
	var soonest time.Time
	for r := s.all.after; r != &s.all; {
		after := r.after
		if !r.due.After(now) {
			r.remove()
			go r.task.Run()
		} else if soonest.IsZero() || r.due.Before(soonest) {
			soonest = r.due
		}
		r = after
	}
	if !soonest.IsZero() {
		s.arm(soonest)
	}
}
