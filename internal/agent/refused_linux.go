package agent

import (
	"fmt"
	"time"
)

// maxLogged is how many refusals of a user are logged singly in an hour, so that no program
// can fill the disk with the log.
const maxLogged = 1024

// refused counts a refusal, and logs it with the pid, the user and err, which says what was
// wrong. The agent logs each reason once per process and hour. It cannot see the pid of a
// process in another PID namespace: all such processes of a user count as one, with the pid 0.
// The caller holds a.mu.
func (a *agent) refused(pid int, user uint32, reason Reason, err error) {
	a.counts.refused.WithLabelValues(string(reason)).Inc()
	if now := time.Now(); now.After(a.clearAt) {
		a.logged, a.clearAt = map[string]int{}, now.Add(time.Hour)
	}
	all, one := fmt.Sprint(user), fmt.Sprint(user, pid, reason)
	if a.logged[one] > 0 {
		return
	}
	a.logged[all]++
	switch n := a.logged[all]; {
	case n < maxLogged:
		a.logged[one]++
		what := "what a program says is not recorded"
		if reason == attributes {
			what = "a program is recorded, but what it says of itself by OpenTelemetry cannot be read"
		}
		a.Log.Warn(what, "reason", reason, "pid", pid, "user", user, "error", err)
	case n&(n-1) == 0: // at 1,024, 2,048 and so on
		a.Log.Warn("more refusals of a user in this hour than are logged singly", "user", user, "count", n)
	}
}
