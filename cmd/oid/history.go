package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/timerange"
)

// defaultWidth is how wide plots are where there is no terminal to fill.
const defaultWidth = 80

func newHistoryCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		times  timeRange
		width  int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "history GPID",
		Short: "Plot what a process used over time",
		Long: `Plot the processor time, the memory, the open files and the threads of a process
over time, or with --json write its samples. GPID is the identity that oid ps and
oid trace show, ip:port:start_time:pid.

CPU is in percent of one processor. A column without a mark is a time without a
sample.

--since takes a duration up to now (24h, 7d) or a TIME. --from and --to take a TIME
each.
` + timerange.Help + "\n\n" + registryHelp,
		Example: `  oid history 10.0.0.7:8080:1795166651598985:4711 --since 2h`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			g, err := gpid.Parse(args[0])
			if err != nil {
				return usageError{err}
			}
			from, to, err := times.times(time.Now())
			if err != nil {
				return usageError{err}
			}
			if width == 0 {
				width = outWidth(std.out)
			}
			if width < 40 || width > 1000 {
				return usagef("--width %d: want 40 to 1000", width)
			}
			r, s, err := where.openRegistry(cmd.Context())
			if err != nil {
				return err
			}
			defer closing(s, &err)
			points := measured(r.History(cmd.Context(), g, orZero(from), orZero(to)))
			if asJSON {
				err = writePoints(std.out, points)
			} else {
				err = plotHistory(cmd.Context(), std, r, g, points, width)
			}
			if errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("no process %v is recorded; \"oid ps --all\" lists them", g)
			}
			return err
		},
	}
	where.addFlag(cmd)
	times.addFlags(cmd)
	cmd.Flags().IntVar(&width, "width", 0, "plot `COLUMNS` wide at most (default that of the terminal, or 80)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object per sample, on a line each")
	return cmd
}

// outWidth returns the width of the terminal that w is.
func outWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return min(max(columns, 40), 1000)
		}
	}
	return defaultWidth
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// point is a sample with the processors used since the one before.
type point struct {
	registry.Sample
	Processors float64 `json:"cpu"`
}

// measured adds to each sample the processors used.
func measured(seq iter.Seq2[registry.Sample, error]) iter.Seq2[point, error] {
	return func(yield func(point, error) bool) {
		var before *registry.Sample
		for s, err := range seq {
			p := point{s, registry.Unmeasured}
			if err == nil && before != nil {
				p.Processors = registry.Processors(*before, s)
			}
			before = &s
			if !yield(p, err) {
				return
			}
		}
	}
}

func writePoints(w io.Writer, points iter.Seq2[point, error]) error {
	encoder := json.NewEncoder(w)
	for p, err := range points {
		if err != nil {
			return err
		}
		if err := encoder.Encode(p); err != nil {
			return err
		}
	}
	return nil
}

// plotHistory writes the plots of a process, one below the other.
func plotHistory(ctx context.Context, std streams, r *registry.Registry, g gpid.GPID, points iter.Seq2[point, error], width int) error {
	var all []point
	for p, err := range points {
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	for p, err := range r.Find(ctx, g) {
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(std.out, "%s %v  %s: %s\n", printable(p.Name), g, p.State, printable(p.Reason)); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(std.err, "oid: no samples in that time")
		return nil
	}
	first, last := all[0].Time, all[len(all)-1].Time
	var b strings.Builder
	for _, panel := range []struct {
		name  string
		value func(point) float64
		label func(float64) string
	}{
		{"cpu", func(p point) float64 { return p.Processors }, cpuText},
		{"memory", func(p point) float64 { return float64(p.RSS) }, bytesText},
		{"files", func(p point) float64 { return float64(p.Files) }, wholeText},
		{"threads", func(p point) float64 { return float64(p.Threads) }, wholeText},
		{"goroutines", func(p point) float64 { return float64(p.Goroutines) }, wholeText},
		{"heap", func(p point) float64 { return float64(p.Heap) }, bytesText},
	} {
		columns := newColumns(min(width-plotMargin, len(all)), first, last)
		for _, p := range all {
			if v := panel.value(p); v >= 0 {
				columns.add(p.Time, v)
			}
		}
		if columns.used() {
			columns.plot(&b, panel.name, panel.label)
		}
	}
	fmt.Fprintf(&b, "%*s%s to %s\n", plotMargin, "", rfc3339(first), rfc3339(last))
	_, err := io.WriteString(std.out, b.String())
	return err
}

func wholeText(v float64) string { return fmt.Sprintf("%.0f", v) }
