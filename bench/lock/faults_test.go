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

// TestFaults does every fault to every subject and writes the table.
func TestFaults(t *testing.T) {
	faults := lockfaults.Faults()
	cells := make([][]string, len(faults))
	t.Run("all", func(t *testing.T) {
		var mu sync.Mutex
		for i, f := range faults {
			cells[i] = make([]string, len(subjects))
			for j, s := range subjects {
				t.Run(f.Name+"/"+s.Name, func(t *testing.T) {
					t.Parallel()
					r := f.Run(t, s)
					t.Logf("%+v", r)
					mu.Lock()
					defer mu.Unlock()
					cells[i][j] = cell(r)
				})
			}
		}
	})
	var b strings.Builder
	b.WriteString(faultsHead)
	b.WriteString("| fault |")
	for _, s := range subjects {
		fmt.Fprintf(&b, " %s |", s.Name)
	}
	b.WriteString("\n|---" + strings.Repeat("|---", len(subjects)) + "|\n")
	for i, f := range faults {
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name, strings.Join(cells[i], " | "))
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

const faultsHead = `# What locks in Redis make of faults

This file is written by a command, in the folder bench/lock:

    go test -run TestFaults -timeout 30m -args -o ../../docs/lock-faults.md

Every fault happens to real redis-server processes and to clients that are
processes of their own. Each time a holder has a lock with a TTL of one second,
which it renews, and two others wait for it. What is written in the table:

- *two holders*: for so long two processes believed at once that they had the
  lock, by asking their library (time in which one was stopped does not count);
- *late writes*: writes that reached a resource after one of a later holder. With
  fences the resource refuses them; without it takes them. Their number depends on
  how often the worker writes, here every 5 ms;
- *idle*: for so long nobody had the lock though others waited for it, where that
  was more than half a TTL (after the death of a holder up to one TTL is what a
  lease is meant to take);
- what else went wrong: waiters that returned more than a second after their
  context had ended, keys without a TTL, keys that were there one TTL and one
  second after the last client had gone, fences that went back, crashes.

A dash: nothing of these.

The libraries are used as their documentation says: bsm/redislock v0.10.0 and
redsync v4.18.1 (one Redis) ask every millisecond and renew every third of the
TTL, in the way of redislock's example "watchdog"; rueidislock v1.0.79 renews by
itself (KeyMajority 1). Figures are of one run each and vary from run to run. What
a Redis forgets (FLUSHALL, a start with nothing on disk, a lost primary) holders
learn with their next renewal, so it is a matter of luck for how long two hold.

`

// cell says what went wrong.
func cell(r lockfaults.Report) string {
	var said []string
	say := func(when bool, format string, args ...any) {
		if when {
			said = append(said, fmt.Sprintf(format, args...))
		}
	}
	say(r.TwoBelievers >= time.Millisecond, "two holders for %.2f s", r.TwoBelievers.Seconds())
	say(r.LateWrites > 0 && r.Fenced, "late writes refused: %d", r.LateWrites)
	say(r.LateWrites > 0 && !r.Fenced, "late writes taken: %d", r.LateWrites)
	say(r.Idle > lockfaults.TTL/2, "idle for %.1f s", r.Idle.Seconds())
	say(r.Late > time.Second, "waiter late by %.1f s", r.Late.Seconds())
	say(len(r.Forever) > 0, "key without a TTL")
	say(len(r.Left) > 0, "key left")
	say(len(r.FencesBack) > 0, "fence went back")
	say(len(r.Crashes) > 0, "crash")
	if len(said) == 0 {
		return "–"
	}
	return strings.Join(said, "; ")
}
