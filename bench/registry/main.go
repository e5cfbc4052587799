// Command registry measures what it costs to be in a registry and to ask it: to
// join, to send a heartbeat, to make ids with a claimed block, and to trace an id
// among many processes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

func main() {
	log.SetFlags(0)
	slog.SetLogLoggerLevel(slog.LevelError)
	out := page.Output()
	n := flag.Int("n", 100_000, "processes in the registry")
	rounds := flag.Int("rounds", 11, "rounds")
	postgres := flag.String("postgres", "", "`URL` of a PostgreSQL database without a registry; default: a SQLite file")
	file := flag.String("file", "", "SQLite file without a registry, which is kept; default: a new one")
	onlyFill := flag.Bool("fill", false, "only fill the registry")
	filled := flag.Bool("filled", false, "the registry was filled before, with -fill")
	flag.Parse()
	if err := run(context.Background(), *out, *postgres, *file, *n, *rounds, *onlyFill, *filled); err != nil {
		log.Fatal(err)
	}
}

func open(ctx context.Context, file, postgres string) (store.Store, error) {
	if postgres != "" {
		return pgstore.Open(ctx, postgres)
	}
	return sqlitestore.Open(ctx, file, nil)
}

func run(ctx context.Context, out, postgres, file string, n, rounds int, onlyFill, filled bool) (err error) {
	if file == "" {
		folder, err := os.MkdirTemp("", "bench-registry-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		file = filepath.Join(folder, "registry.db")
	}
	s, err := open(ctx, file, postgres)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var ids []objectid.ID
	if filled {
		ids, err = idsOf(ctx, s)
	} else {
		ids, err = fill(ctx, s, n)
	}
	if err != nil || onlyFill {
		return err
	}
	var body strings.Builder
	engine := "A SQLite file"
	if postgres != "" {
		engine = "A PostgreSQL database"
	}
	fmt.Fprintf(&body, engine+" with %d processes, nine tenths ended with %d samples each. Medians of %d rounds.\n\n", n, samplesEach, rounds)
	fmt.Fprintf(&body, "| | median | slowest |\n|---|---:|---:|\n")
	for _, m := range []struct {
		name    string
		measure func(context.Context, store.Store, []objectid.ID) (float64, error)
		unit    string
	}{
		{"register (the goal is 20 ms at most)", join, "ms"},
		{"heartbeat, processor time of all threads", heartbeat, "ms"},
		{"heartbeats every 10 s, share of one core (0.1 % at most)", share, "%"},
		{"trace one of all processes' ids (1 ms at most)", trace, "ms"},
		{"trace an id of a process that is not recorded", traceNobody, "ms"},
		{"history of one process (5 ms at most)", history, "ms"},
		{"page of 100 living processes (50 ms at most)", pageOf(registry.Alive, registry.Late), "ms"},
		{"page of 100 dead and ended processes", pageOf(registry.Dead, registry.Ended), "ms"},
		{"sweep of all living", sweep, "ms"},
		{"an id with a claimed block, time over that of a random one (1)", generator, ""},
	} {
		var figures []float64
		for range rounds {
			f, err := m.measure(ctx, s, ids)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			figures = append(figures, f)
		}
		slices.Sort(figures)
		line := fmt.Sprintf("| %s | %.3g %s | %.3g %s |\n", m.name, figures[rounds/2], m.unit, figures[rounds-1], m.unit)
		fmt.Fprint(os.Stderr, line)
		body.WriteString(line)
	}
	later := registry.New(s, &registry.Options{Now: func() time.Time { return time.Now().AddDate(3, 0, 0) }})
	began := time.Now()
	samplesOnly := &registry.PruneOptions{Records: 100 * 365 * 24 * time.Hour}
	done, err := later.Prune(ctx, samplesOnly)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("\nPrune: %d samples, %.0f a second", done.Samples, float64(done.Samples)/time.Since(began).Seconds())
	if _, err := later.Sweep(ctx); err != nil {
		return err
	}
	began = time.Now()
	if done, err = later.Prune(ctx, nil); err != nil {
		return err
	}
	line += fmt.Sprintf("; %d records, %.0f a second (20,000 at least).\n", done.Records, float64(done.Records)/time.Since(began).Seconds())
	fmt.Fprint(os.Stderr, line)
	body.WriteString(line)
	return page.Write(out, "Registry", "go run ./registry", body.String())
}

// perRound is how many times a round does what it measures.
const perRound = 50

// millis returns how long one of n calls takes, in milliseconds.
func millis(n int, do func() error) (float64, error) {
	began := time.Now()
	for range n {
		if err := do(); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds() * 1000 / float64(n), nil
}

func join(ctx context.Context, s store.Store, _ []objectid.ID) (float64, error) {
	var members []*registry.Member
	took, err := millis(perRound, func() error {
		m, err := registry.New(s, nil).Register(ctx, &registry.RegisterOptions{Interval: time.Hour})
		members = append(members, m)
		return err
	})
	for _, m := range members {
		if m != nil {
			err = errors.Join(err, m.End(ctx, "measured"))
		}
	}
	return took, err
}

// heartbeat measures the processor time of a member that beats every 100 ms.
func heartbeat(ctx context.Context, s store.Store, _ []objectid.ID) (float64, error) {
	m, err := registry.New(s, nil).Register(ctx, &registry.RegisterOptions{Interval: 100 * time.Millisecond})
	if err != nil {
		return 0, err
	}
	count, used := m.Process().Last.Count, page.ProcessorTime()
	time.Sleep(2 * time.Second)
	beats := m.Process().Last.Count - count
	used = page.ProcessorTime() - used
	if beats == 0 {
		return 0, errors.Join(errors.New("no heartbeat in 2 s"), m.Err())
	}
	return used.Seconds() * 1000 / float64(beats), m.End(ctx, "measured")
}

// share is what a heartbeat takes of one core at the default interval.
func share(ctx context.Context, s store.Store, ids []objectid.ID) (float64, error) {
	ms, err := heartbeat(ctx, s, ids)
	return ms / 10_000 * 100, err
}

func trace(ctx context.Context, s store.Store, ids []objectid.ID) (float64, error) {
	r := registry.New(s, nil)
	return millis(10*perRound, func() error {
		t, err := r.Trace(ctx, ids[rand.IntN(len(ids))])
		if err == nil && (t.Verdict != registry.Known || t.Before == nil && t.After == nil) { // one that lives has one sample
			err = fmt.Errorf("trace: %+v", t)
		}
		return err
	})
}

func traceNobody(ctx context.Context, s store.Store, _ []objectid.ID) (float64, error) {
	r := registry.New(s, nil)
	return millis(10*perRound, func() error {
		t, err := r.Trace(ctx, objectid.New())
		if err == nil && t.Verdict != registry.Unknown {
			err = fmt.Errorf("trace: %+v", t)
		}
		return err
	})
}

func history(ctx context.Context, s store.Store, ids []objectid.ID) (float64, error) {
	r := registry.New(s, nil)
	var t registry.Trace
	for t.Processes == nil || t.Processes[0].Remote { // those that live have one sample
		var err error
		if t, err = r.Trace(ctx, ids[rand.IntN(len(ids))]); err != nil {
			return 0, err
		}
	}
	return millis(perRound, func() error {
		n := 0
		for _, err := range r.History(ctx, t.Processes[0].Key(), time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			n++
		}
		if n != samplesEach {
			return fmt.Errorf("history of %d samples, want %d", n, samplesEach)
		}
		return nil
	})
}

// pageOf measures a page of the processes in some states.
func pageOf(states ...registry.State) func(context.Context, store.Store, []objectid.ID) (float64, error) {
	return func(ctx context.Context, s store.Store, _ []objectid.ID) (float64, error) {
		r := registry.New(s, nil)
		q := registry.Query{States: states, Limit: 100}
		return millis(5, func() error {
			page, err := r.List(ctx, q)
			if err == nil && len(page.Processes) == 0 {
				err = errors.New("an empty page")
			}
			q.After = page.Next
			return err
		})
	}
}

func sweep(ctx context.Context, s store.Store, _ []objectid.ID) (float64, error) {
	r := registry.New(s, nil)
	return millis(1, func() error {
		_, err := r.Sweep(ctx)
		return err
	})
}

// generator compares a member's generator with one of random process bytes, turn
// by turn.
func generator(ctx context.Context, s store.Store, _ []objectid.ID) (float64, error) {
	m, err := registry.New(s, nil).Register(ctx, &registry.RegisterOptions{Interval: time.Hour})
	if err != nil {
		return 0, err
	}
	random, err := objectid.NewGenerator(nil)
	if err != nil {
		return 0, err
	}
	var sink objectid.ID
	turn := func(g *objectid.Generator) float64 {
		began := time.Now()
		for range 2_000_000 {
			sink = g.New()
		}
		return time.Since(began).Seconds()
	}
	ratio := turn(m.Generator()) / turn(random)
	if sink.IsZero() {
		return 0, errors.New("no id")
	}
	return ratio, m.End(ctx, "measured")
}
