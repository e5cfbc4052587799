package lock

import (
	"flag"
	"fmt"
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

// tables are the sections of the page.
var tables = []struct {
	name     string
	faults   []lockfaults.Fault
	subjects []lockfaults.Subject
	text     string // above the table
}{
	{"Redis", lockfaults.Faults(), subjects, redisText},
	{"PostgreSQL", lockfaults.PostgresFaults(), []lockfaults.Subject{lockfaults.OwnOnPostgres()}, postgresText},
}

// TestFaults does every fault to every subject some times and writes the tables of
// the worst.
func TestFaults(t *testing.T) {
	for _, table := range tables {
		t.Run(table.name, func(t *testing.T) {
			reports := measure(t, table.faults, table.subjects)
			var b strings.Builder
			fmt.Fprintf(&b, "%s\nThe worst of %d runs.\n\n| fault |", table.text, runs)
			for _, s := range table.subjects {
				fmt.Fprintf(&b, " %s |", s.Name)
			}
			b.WriteString("\n|---" + strings.Repeat("|---", len(table.subjects)) + "|\n")
			for i, f := range table.faults {
				fmt.Fprintf(&b, "| %s |", f.Name)
				for _, r := range reports[i] {
					fmt.Fprintf(&b, " %s |", cell(f, r))
				}
				b.WriteString("\n")
			}
			if *output == "" {
				t.Log(b.String())
				return
			}
			if err := page.Write(*output, table.name, "make bench-lock", b.String()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// measure returns the worst report of each fault on each subject.
func measure(t *testing.T, faults []lockfaults.Fault, subjects []lockfaults.Subject) [][]lockfaults.Report {
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
	return reports
}

const redisText = `bsm/redislock v0.10.0 and redsync v4.18.1 (one Redis) ask every millisecond and renew every third of
the TTL; rueidislock v1.0.79 renews by itself (KeyMajority 1).

If Redis forgets a lock, two may hold it until a renewal is answered. On a replica whose clock is behind,
a new client may get a lower fence once nobody has held the lock or waited for it for a TTL: keep the
clocks of primary and replicas together.
`

const postgresText = `The lock of package storelock. While the server does not answer, nobody gets the lock, which counts as
idle.
`

// cell says what went wrong.
func cell(f lockfaults.Fault, r lockfaults.Report) string {
	var said []string
	say := func(when bool, format string, args ...any) {
		if when {
			said = append(said, fmt.Sprintf(format, args...))
		}
	}
	say(r.TwoBelievers >= time.Millisecond, "two %.2f s", r.TwoBelievers.Seconds())
	say(r.LateWrites > 0 && r.Fenced, "refused %d", r.LateWrites)
	say(r.LateWrites > 0 && !r.Fenced, "taken %d", r.LateWrites)
	say(r.Idle > time.Second/2, "idle %.1f s", r.Idle.Seconds())
	say(r.Late > time.Second, "waiter %.1f s", r.Late.Seconds())
	say(r.LateStart > time.Second/2, "starter %.1f s", r.LateStart.Seconds())
	say(f.Ordinary && len(r.Lost) > 0, "lost %d", len(r.Lost))
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
