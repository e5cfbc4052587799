// Command ids measures objectid beside other generators of ids.
//
// Each operation is measured in rounds. In a round every library has its turn,
// so that a slower or faster moment of the machine meets all of them; the figures
// are medians over the rounds.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/bench/page"
)

func main() {
	log.SetFlags(0)
	out := page.Output()
	rounds := flag.Int("rounds", 11, "rounds")
	turn := flag.Duration("turn", 100*time.Millisecond, "length of one library's turn")
	only := flag.String("only", "", "print only the tables of oid annotate or inspect")
	flag.Parse()
	if *only != "" {
		table, err := commands[*only](min(*rounds, 7))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(table)
		return
	}

	var body strings.Builder
	fmt.Fprintf(&body, "Nanoseconds for one id, medians of %d rounds with turns of %v each; in brackets allocations. The 244 ns of bwmarrin/snowflake are its bound of 4,096 ids in a millisecond, not its cost. Left out: rogpeppe/fastuuid, whose ids have no time; ulid.Parse, which accepts any characters; package uuid of Go 1.27, a later Go.\n\n%s", *rounds, *turn, table(*rounds, *turn))
	for _, name := range []string{"annotate", "inspect"} {
		table, err := commands[name](min(*rounds, 7))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(&body, "\n%s", table)
	}
	if err := page.Write(*out, "Ids", "go run ./ids", body.String()); err != nil {
		log.Fatal(err)
	}
}

// commands are the tables of commands of oid.
var commands = map[string]func(rounds int) (string, error){"annotate": annotateTable, "inspect": inspectTable}

// table measures all operations of all libraries and returns the Markdown.
func table(rounds int, turn time.Duration) string {
	head, line := "| ns |", "|---|"
	rows := make([]string, len(operations[0].libraries))
	for i, l := range operations[0].libraries {
		rows[i] = "| " + l.name + " |"
	}
	for _, o := range operations {
		for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
			if workers > 1 && !o.shared {
				continue
			}
			head += " " + o.name
			if workers > 1 {
				head += fmt.Sprintf(", %d goroutines", workers)
			}
			head, line = head+" |", line+"---:|"
			times := make([][]float64, len(o.libraries))
			for range rounds {
				for i, l := range o.libraries {
					times[i] = append(times[i], measure(l.run, workers, turn)/float64(o.ids(l)))
				}
			}
			for i, l := range o.libraries {
				rows[i] += fmt.Sprintf(" %.2f", page.Median(times[i]))
				if n := allocations(l.run) / uint64(o.ids(l)); n > 0 {
					rows[i] += fmt.Sprintf(" (%d)", n)
				}
				rows[i] += " |"
			}
		}
		fmt.Fprintf(os.Stderr, "%s done\n", o.name)
	}
	return head + "\n" + line + "\n" + strings.Join(rows, "\n") + "\n"
}

// measure lets workers call run for about the given time and returns the
// nanoseconds that passed for each call among all of them.
func measure(run func(n int), workers int, turn time.Duration) float64 {
	n := 1
	for {
		var ready, done sync.WaitGroup
		start := make(chan struct{})
		for range workers {
			ready.Add(1)
			done.Go(func() {
				ready.Done()
				<-start
				run(n)
			})
		}
		ready.Wait()
		began := time.Now()
		close(start)
		done.Wait()
		took := time.Since(began)
		if took >= turn/2 {
			return float64(took.Nanoseconds()) / float64(n*workers)
		}
		n = max(2*n, int(float64(n)*float64(turn)/float64(max(took, turn/1000))))
	}
}

// allocations returns how often one call allocates; what a run of many allocates
// once does not count.
func allocations(run func(n int)) uint64 {
	const n = 1000
	run(n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run(n)
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / n
}
