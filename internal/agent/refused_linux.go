package agent

import (
	"time"
)

// Bounds of the log. They keep a program from filling the disk with it.
const (
	maxLogged = 100       // refusals per user and minute that are logged singly
	maxSeen   = 20_000    // logged refusals that are remembered, so that each is logged once
	remember  = time.Hour // how long they are remembered
)

// refusals are the refusals that were logged.
type refusals struct {
	seen           map[seen]bool
	users          map[uint32]int // how many refusals each user had in this minute that were not in seen
	minute, forget time.Time      // when users and seen are cleared
}

// seen is what is logged once.
type seen struct {
	pid    int
	user   uint32
	reason Reason
}

// refused counts and logs that the agent refused something of the process pid of user. A pid
// of 0 stands for all processes of the user that the agent cannot see. It logs each reason
// once per process and hour. err says what was wrong. The caller holds a.mu.
func (a *agent) refused(pid int, user uint32, reason Reason, err error) {
	a.summarize(time.Now())
	r, key := &a.refusals, seen{pid, user, reason}
	if r.seen[key] {
		return
	}
	if r.users[user]++; r.users[user] > maxLogged {
		return
	}
	if len(r.seen) == maxSeen {
		clear(r.seen)
	}
	r.seen[key] = true
	a.Log.Warn("refused: "+Reasons[reason][1], "reason", Reasons[reason][0], "pid", pid, "user", user, "error", err)
}

// summarize logs how many refusals of the last minute were not logged singly.
func (a *agent) summarize(now time.Time) {
	r := &a.refusals
	if now.Before(r.minute) {
		return
	}
	for user, n := range r.users {
		if n > maxLogged {
			a.Log.Warn("refused: more in the last minute than are logged singly", "user", user, "count", n-maxLogged)
		}
	}
	r.users, r.minute = map[uint32]int{}, now.Add(time.Minute)
	if now.After(r.forget) {
		r.seen, r.forget = map[seen]bool{}, now.Add(remember)
	}
}
