// Command store measures what it costs to find documents by time: by their _id,
// by a time field without an index, and by a time field with one; in a SQLite file
// and in a PostgreSQL server. It also measures how fast the store itself takes
// documents in and gives them out, on PostgreSQL beside the same done by hand.
//
// PostgreSQL is Debian's package, which the command starts on the loopback address
// with its data in a temporary folder; it is left out where it is not installed.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/objectid"
)

func main() {
	log.SetFlags(0)
	out := page.Output()
	n := flag.Int("n", 1_000_000, "documents")
	rounds := flag.Int("rounds", 11, "rounds")
	engine := flag.String("engine", "", "measure `sqlite` or postgres alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *engine, *n, *rounds); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out, engine string, n, rounds int) error {
	folder, err := os.MkdirTemp("", "bench-store-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	head := fmt.Sprintf("%s documents of about 350 bytes, 100 for each second. Each query returns the %s of ten seconds, the same in a round; medians of %d rounds. ratio: the time over that by _id. Left out: the network, the same for all.\n", humanize.Comma(int64(n)), humanize.Comma(perRange), rounds)
	data := makeRows(n)
	for _, section := range []struct {
		engine, title string
		measure       []func(ctx context.Context, folder string, data []row, rounds int) (string, error)
	}{
		{"sqlite", "Store", []func(context.Context, string, []row, int) (string, error){measureStore, measureSQLite}},
		{"postgres", "Store on PostgreSQL", []func(context.Context, string, []row, int) (string, error){measurePostgres}},
	} {
		if engine != "" && engine != section.engine {
			continue
		}
		body := head
		for _, measure := range section.measure {
			text, err := measure(ctx, folder, data, rounds)
			if err != nil {
				return err
			}
			body += "\n" + text
			fmt.Fprintln(os.Stderr, text)
		}
		if err := page.Write(out, section.title, "go run ./store -engine "+section.engine, body); err != nil {
			return err
		}
	}
	return nil
}

const (
	perSecond = 100
	perRange  = 10 * perSecond
)

// row is a document with its time beside its id.
type row struct {
	id   objectid.ID
	at   time.Time
	text string
}

// makeRows returns rows in the order of their times.
func makeRows(n int) []row {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	g, err := objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return now }})
	if err != nil {
		log.Fatal(err)
	}
	rows := make([]row, n)
	for i := range rows {
		now = start.Add(time.Duration(i) * time.Second / perSecond)
		rows[i] = row{g.New(), now, fmt.Sprintf("%0300d", i)}
	}
	return rows
}

// way is one way to find the rows with a time in a stretch.
type way struct {
	name string
	find func(ctx context.Context, from, to time.Time) (found int, err error)
}

// compare measures ways, the first of which is the one by _id, and returns the
// rows of a table: median times and ratios.
func compare(ctx context.Context, data []row, rounds int, ways []way) (string, error) {
	times := make([][]float64, len(ways))
	for round := range rounds + 1 {
		first := perSecond * rand.IntN((len(data)-perRange)/perSecond)
		from := data[first].at
		for k := range ways { // each is the first in turn: after a scan of all the caches are cold
			i := (k + round) % len(ways)
			w := ways[i]
			began := time.Now()
			found, err := w.find(ctx, from, from.Add(perRange*time.Second/perSecond))
			took := time.Since(began)
			if err != nil || found != perRange {
				return "", fmt.Errorf("%s: found %d, %w, want %d", w.name, found, err, perRange)
			}
			if round > 0 {
				times[i] = append(times[i], took.Seconds())
			}
		}
	}
	var b strings.Builder
	for i, w := range ways {
		ratios := make([]float64, rounds)
		for r := range ratios {
			ratios[r] = times[i][r] / times[0][r]
		}
		fmt.Fprintf(&b, "| %s | %.3f ms | %.2f |\n", w.name, 1000*page.Median(times[i]), page.Median(ratios))
	}
	return b.String(), nil
}

// countRows counts rows of an id and a text, reading both.
func countRows(rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
},
) (n int, err error) {
	for rows.Next() {
		var id objectid.ID
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// cost is what it took to fill a table.
type cost struct {
	took  time.Duration
	bytes int64
}

// indexCost says what an index on time costs for n rows, beside the same table
// without it: medians over several fillings of both, in turn.
func indexCost(n int, without, with []cost) string {
	ratios, seconds := make([]float64, len(with)), make([]float64, len(with))
	for i := range with {
		seconds[i] = (with[i].took - without[i].took).Seconds()
		ratios[i] = with[i].took.Seconds() / without[i].took.Seconds()
	}
	extra := float64(with[0].bytes - without[0].bytes)
	return fmt.Sprintf("The index on the time costs %.1f bytes for each document, %.0f %% of the table without it, and %.2f s when all are inserted, which takes %.2f times as long.\n",
		extra/float64(n), 100*extra/float64(without[0].bytes), page.Median(seconds), page.Median(ratios))
}
