package lock

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/internal/lockfaults"
)

var output = flag.String("o", "", "`file` to write to; without it results are logged")

// runs is how often every fault happens to every subject.
const runs = 3

// TestFaults does every fault to every subject some times and writes the table of
// the worst.
func TestFaults(t *testing.T) {
	faults := lockfaults.Faults()
	reports := make([][]lockfaults.Report, len(faults))
	t.Run("all", func(t *testing.T) {
		var mu sync.Mutex
		for i, f := range faults {
			reports[i] = make([]lockfaults.Report, len(subjects))
			for j, s := range subjects {
				for range runs {
					t.Run(f.Name+"/"+s.Name, func(t *testing.T) {
						t.Parallel()
						r := f.Run(t, s)
						t.Logf("%+v", r)
						mu.Lock()
						defer mu.Unlock()
						reports[i][j] = reports[i][j].Worst(r)
					})
				}
			}
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, faultsHead, runs)
	b.WriteString("| fault |")
	for _, s := range subjects {
		fmt.Fprintf(&b, " %s |", s.Name)
	}
	b.WriteString("\n|---" + strings.Repeat("|---", len(subjects)) + "|\n")
	for i, f := range faults {
		fmt.Fprintf(&b, "| %s |", f.Name)
		for j := range subjects {
			fmt.Fprintf(&b, " %s |", cell(f, reports[i][j]))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nMeasured on %s, %s.\n", time.Now().UTC().Format(time.DateOnly), page.Machine())
	if *output == "" {
		t.Log(b.String())
		return
	}
	if err := os.WriteFile(*output, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

const faultsHead = `# How locks in Redis behave under faults

This file is written by a command, in the folder bench/lock:

    go test -run TestFaults -timeout 60m -parallel 8 -args -o ../../docs/lock-faults.md

Every fault happens to real redis-server processes, alone, behind Sentinel or in a
Cluster, and to clients that are processes of their own. Unless the row says something
else, a holder has a lock with a TTL of one second, which it renews, and two others
wait for it. What is written in the table:

- *two holders*: how long two processes had the lock at once, according to their
  library (time in which one was stopped does not count);
- *late writes*: writes that reached a resource after a write of a later holder. A
  resource with fences refuses them; one without takes them. Their number depends on
  how often the worker writes, here every 5 ms;
- *idle*: how long nobody had the lock while others waited for it, if more than half a
  second (up to one TTL is expected after the death of a holder, and during a failover
  there is no Redis);
- *all in*: how long it took until every worker that the row names had had the lock;
- *lease lost*: leases that ended before their holder was done, on ordinary days;
- what else went wrong: waiters that returned more than a second after their
  context had ended, keys without a TTL, keys that were there one TTL and one
  second after the last client had gone, fences that went back, crashes.

A dash means none of these. Every fault happened %d times to every library; each figure
is the worst of its kind.

The libraries are used as their documentation says: bsm/redislock v0.10.0 and
redsync v4.18.1 (one Redis) ask every millisecond and renew every third of the
TTL, in the way of redislock's example "watchdog"; rueidislock v1.0.79 renews by
itself (KeyMajority 1).

No lock in one Redis can prevent this: if Redis forgets a lock (FLUSHALL, a start with
nothing on disk, a lost primary, or a replica whose clock is ahead, where the key has
expired), its holder learns that with its next renewal, and two may hold the lock until
then. A replica whose clock is behind keeps keys for longer. oid's fences still rise there
for every client that has seen them, and for all clients while somebody holds or waits and
for one TTL afterwards, since the lock's keys contain the fence. A new client that comes
later gets a fence from the clock that is behind, and that fence is lower. Keep the clocks
of primary and replicas together, or give the resource a fence of its own.

A step of the clock of a holder's host does not matter: deadlines count on the monotonic
clock, which is not stepped. In the row for it the holder's program is built with a package
time whose time.Now can be set ahead. [lock-model.md](lock-model.md) is about what holds in
every order of events.

`

// cell says what went wrong.
func cell(f lockfaults.Fault, r lockfaults.Report) string {
	var said []string
	say := func(when bool, format string, args ...any) {
		if when {
			said = append(said, fmt.Sprintf(format, args...))
		}
	}
	say(r.TwoBelievers >= time.Millisecond, "two holders for %.2f s", r.TwoBelievers.Seconds())
	say(r.LateWrites > 0 && r.Fenced, "late writes refused: %d", r.LateWrites)
	say(r.LateWrites > 0 && !r.Fenced, "late writes taken: %d", r.LateWrites)
	say(r.Idle > time.Second/2, "idle for %.1f s", r.Idle.Seconds())
	say(r.Late > time.Second, "waiter late by %.1f s", r.Late.Seconds())
	say(f.Ordinary && len(r.Lost) > 0, "lease lost: %d", len(r.Lost))
	say(r.Took > 0, "all in %.1f s", r.Took.Seconds())
	say(len(r.Forever) > 0, "key without a TTL")
	say(len(r.Left) > 0, "key left")
	say(len(r.FencesBack) > 0, "fence went back")
	say(len(r.Crashes) > 0, "crash")
	if len(said) == 0 {
		return "–"
	}
	return strings.Join(said, "; ")
}
