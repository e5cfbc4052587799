package lock

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/internal/lockfaults"
)

// How often every episode happens to oid, and to each peer.
var (
	ownRuns  = flag.Int("runs", 20, "how often every episode happens to oid")
	peerRuns = flag.Int("peers", 3, "how often every episode happens to each peer")
)

// episodeTables are the sections of the page about episodes.
var episodeTables = []struct {
	name     string
	episodes []lockfaults.Episode
	subjects []lockfaults.Subject // oid first
	text     string               // above the table
}{
	{"Redis: faults that pass", lockfaults.Episodes(), subjects, passingText},
	{"PostgreSQL: faults that pass", lockfaults.PostgresEpisodes(), []lockfaults.Subject{lockfaults.OwnOnPostgres()}, "The same, with the lock of package storelock.\n"},
}

const passingText = `The server keeps its data, and the fault passes after 2.5 s or more. Each column says how much longer
than the fault somebody waited:

- holder: keeps its lock if a renewal within the TTL, of 6 s or more, can keep it;
- waiter: waits for that holder, which releases after the fault, or for one whose TTL of 1 s ends during it;
- newcomer: asks for a free lock during the fault, with a connection or without;
- Lead: two processes; the leader ends after the fault;
- Once: a run ends during the fault, another is due during it.

"gave up": a call returned an error although its context went on; it was called again. "lost": a lease ended
that a renewal could have kept. "never": not within 10 s. Each with the number of runs. No lock had two
holders, and no write came late, unless the table says so.
`

// TestEpisodes lets every episode happen to every subject some times, and writes the tables of
// the worst.
func TestEpisodes(t *testing.T) {
	for _, table := range episodeTables {
		t.Run(table.name, func(t *testing.T) {
			outcomes := watchEpisodes(t, table.episodes, table.subjects)
			var b strings.Builder
			fmt.Fprintf(&b, "%s\nThe worst of %d runs", table.text, *ownRuns)
			if len(table.subjects) > 1 {
				fmt.Fprintf(&b, "; of the others, of %d", *peerRuns)
			}
			b.WriteString(".\n\n| fault |")
			for _, role := range roles {
				fmt.Fprintf(&b, " %s |", role.name)
			}
			for _, s := range table.subjects[1:] {
				fmt.Fprintf(&b, " %s |", s.Name)
			}
			b.WriteString("\n|---" + strings.Repeat("|---", len(roles)+len(table.subjects)-1) + "|\n")
			for i, e := range table.episodes {
				for j, o := range outcomes[i] {
					if want := runsOf(table.subjects[j]); o.Runs != want {
						t.Fatalf("%s, %s: %d runs, want %d", e.Name, table.subjects[j].Name, o.Runs, want)
					}
				}
				fmt.Fprintf(&b, "| %s |", e.Name)
				for _, role := range roles {
					fmt.Fprintf(&b, " %s |", fare(role.of(outcomes[i][0])))
				}
				for _, o := range outcomes[i][1:] {
					fmt.Fprintf(&b, " %s |", peerCell(o))
				}
				b.WriteString("\n")
				if o := outcomes[i][0]; o.TwoBelievers > 0 || o.LateWrites > 0 || o.Crashes != nil {
					t.Errorf("%s: two holders for %v, %d late writes, crashes: %q", e.Name, o.TwoBelievers, o.LateWrites, o.Crashes)
				}
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

// roles are the columns of oid.
var roles = []struct {
	name string
	of   func(lockfaults.Outcome) lockfaults.Fare
}{
	{"holder", func(o lockfaults.Outcome) lockfaults.Fare { return o.Holder }},
	{"waiter", func(o lockfaults.Outcome) lockfaults.Fare { return o.Waiter }},
	{"newcomer", func(o lockfaults.Outcome) lockfaults.Fare { return o.Newcomer }},
	{"Lead", func(o lockfaults.Outcome) lockfaults.Fare { return o.Lead }},
	{"Once", func(o lockfaults.Outcome) lockfaults.Fare { return o.Once }},
}

// watchEpisodes returns the outcome of all runs of each episode for each subject.
func watchEpisodes(t *testing.T, episodes []lockfaults.Episode, subjects []lockfaults.Subject) [][]lockfaults.Outcome {
	outcomes := make([][]lockfaults.Outcome, len(episodes))
	t.Run("all", func(t *testing.T) {
		var mu sync.Mutex
		for i, e := range episodes {
			outcomes[i] = make([]lockfaults.Outcome, len(subjects))
			for j, s := range subjects {
				for range runsOf(s) {
					t.Run(e.Name+"/"+s.Name, func(t *testing.T) {
						t.Parallel()
						o := e.Run(t, s)
						t.Logf("%+v", o)
						mu.Lock()
						defer mu.Unlock()
						outcomes[i][j] = outcomes[i][j].Add(o)
					})
				}
			}
		}
	})
	return outcomes
}

func runsOf(s lockfaults.Subject) int {
	if s.Runs {
		return *ownRuns
	}
	return *peerRuns
}

// fare says what became of a role.
func fare(f lockfaults.Fare) string {
	said := failures(f)
	if f.After >= 50*time.Millisecond || said == nil {
		said = append(said, fmt.Sprintf("%.1f s", f.After.Seconds()))
	}
	return strings.Join(said, "; ")
}

func failures(f lockfaults.Fare) (said []string) {
	for _, kind := range []struct {
		word string
		runs int
	}{{"lost", f.Lost}, {"gave up", f.GaveUp}, {"never", f.Never}, {"twice", f.Twice}} {
		if kind.runs > 0 {
			said = append(said, fmt.Sprintf("%s %d", kind.word, kind.runs))
		}
	}
	return said
}

// peerCell says what became of the roles that peers have, if it is worth saying.
func peerCell(o lockfaults.Outcome) string {
	var said []string
	for _, role := range roles[:3] {
		if f := role.of(o); f.After > time.Second/2 || failures(f) != nil {
			said = append(said, role.name+" "+strings.Join(slices.Concat(failures(f), late(f)), ", "))
		}
	}
	if o.TwoBelievers >= time.Millisecond {
		said = append(said, fmt.Sprintf("two %.2f s", o.TwoBelievers.Seconds()))
	}
	if o.LateWrites > 0 {
		said = append(said, fmt.Sprintf("taken %d", o.LateWrites))
	}
	if said == nil {
		return "–"
	}
	return strings.Join(said, "; ")
}

func late(f lockfaults.Fare) []string {
	if f.After <= time.Second/2 {
		return nil
	}
	return []string{fmt.Sprintf("%.1f s", f.After.Seconds())}
}
