package agent

import (
	"fmt"
	"time"
)

// Bounds of the log. They keep a program from filling the disk with it.
const (
	window    = time.Hour // each reason is logged once per process and window
	maxLogged = 1000      // refusals per user and window that are logged singly
	maxSeen   = 20_000    // refusals of all users per window that are logged singly
)

// refusals are the refusals of a window.
type refusals struct {
	end   time.Time       // of the window
	seen  map[string]bool // pid, user and reason of those that were logged
	users map[uint32]int  // how many refusals each user had, without those in seen
}

// refused counts and logs that the agent refused something of the process pid of user. A pid
// of 0 stands for all processes of the user that the agent cannot see. err says what was
// wrong. The caller holds a.mu.
func (a *agent) refused(pid int, user uint32, reason Reason, err error) {
	a.counts.refused.WithLabelValues(string(reason)).Inc()
	a.summarize(time.Now())
	r, key := &a.refusals, fmt.Sprint(pid, user, reason)
	if r.seen[key] {
		return
	}
	if r.users[user]++; r.users[user] <= maxLogged && len(r.seen) < maxSeen {
		r.seen[key] = true
		a.Log.Warn("a program is refused", "reason", reason, "pid", pid, "user", user, "error", err)
	}
}

// summarize logs how many refusals were not logged singly, and begins another window, if the
// window has ended.
func (a *agent) summarize(now time.Time) {
	if now.Before(a.refusals.end) {
		return
	}
	for user, n := range a.refusals.users {
		if n > maxLogged {
			a.Log.Warn("more programs are refused than are logged singly", "user", user, "count", n-maxLogged)
		}
	}
	a.refusals = refusals{now.Add(window), map[string]bool{}, map[uint32]int{}}
}
