package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

var historyHelp = `Plot what was measured of a process over time (` + loadTitles() + `),
or with --json write its samples. GPID is the identity that oid ps and oid trace
show, ip:port:start_time:pid. Processes of several hosts that have the same identity
are plotted one after the other; with --json each sample has its member key.

CPU is in percent of one processor. An empty column is a time without a sample.`

func newHistoryCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		times  timeRange
		width  int
		asJSON jsonFlag
	)
	cmd := &cobra.Command{
		Use:     "history GPID",
		Short:   "Plot the load of a process over time",
		Long:    historyHelp,
		Example: `  oid history 10.0.0.7:8080:1795166651598985:4711 --since 2h`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			g, err := gpid.Parse(args[0])
			if err != nil {
				return usageError{err}
			}
			from, to, err := times.times()
			if err != nil {
				return err
			}
			if width, err = plotWidth(std.out, width); err != nil {
				return err
			}
			return using(cmd.Context(), where.openToRead, func(s store.Store) error {
				r := where.registry(s)
				members, err := membersOf(cmd.Context(), r, g)
				if err != nil {
					return err
				}
				between := ""
				for i, name := range towire.Names(members) {
					p := &members[i]
					samples := measured(r.History(cmd.Context(), p.Key(), orZero(from), orZero(to)))
					if asJSON {
						err = writeSamples(std.out, asJSON, p.Key(), samples)
					} else {
						err = plotHistory(std, between, p, name, samples, width, &times.zone)
						between = "\n"
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	where.addFlag(cmd)
	times.addFlags(cmd)
	cmd.Flags().IntVar(&width, "width", 0, "plot `COLUMNS` wide at most (default that of the terminal, or 80)")
	asJSON.addFlag(cmd, jsonObjects)
	return cmd
}

// membersOf returns the recorded processes of an identity, one at least.
func membersOf(ctx context.Context, r *registry.Registry, g gpid.GPID) (members []registry.Status, err error) {
	for p, err := range r.List(ctx, registry.Query{GPID: g}) {
		if err != nil {
			return nil, err
		}
		members = append(members, p)
	}
	if members == nil {
		return nil, fmt.Errorf("no process %v is recorded; \"oid ps --all\" lists them", g)
	}
	return members, nil
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// measurement is a sample with the one before it, or nil.
type measurement struct {
	before *registry.Sample
	registry.Sample
}

// processors returns the processors in use since the sample before, or
// registry.Unmeasured.
func (m measurement) processors() float64 {
	if m.before == nil {
		return registry.Unmeasured
	}
	return registry.Processors(*m.before, m.Sample)
}

// measured adds to each sample the one before it.
func measured(seq iter.Seq2[registry.Sample, error]) iter.Seq2[measurement, error] {
	return func(yield func(measurement, error) bool) {
		var before *registry.Sample
		for s, err := range seq {
			if !yield(measurement{before, s}, err) {
				return
			}
			before = &s
		}
	}
}

func writeSamples(w io.Writer, asJSON jsonFlag, member registry.MemberKey, samples iter.Seq2[measurement, error]) error {
	for m, err := range samples {
		if err != nil {
			return err
		}
		if err := asJSON.emit(w, towire.Sample(member, m.before, m.Sample), nil); err != nil {
			return err
		}
	}
	return nil
}

// number returns a number of the load, of a time that the process has used how much of
// it was used at a time. A value below 0 was not measured.
func (m measurement) number(f *registry.LoadField) float64 {
	if f.Unit == registry.Nanoseconds {
		return m.processors()
	}
	return float64(*f.Of(&m.Load))
}

// unitTexts write the values of a plot.
var unitTexts = map[registry.Unit]func(float64) string{
	registry.Count: countText, registry.Bytes: bytesText, registry.Nanoseconds: cpuText,
}

// loadTitles are the names of the plots.
func loadTitles() string {
	var titles []string
	for _, f := range registry.LoadFields {
		titles = append(titles, f.Title)
	}
	return strings.Join(titles, ", ")
}

// plotHistory writes the plots of a process of a name, one below the other, after between.
func plotHistory(std streams, between string, p *registry.Status, name string, samples iter.Seq2[measurement, error], width int, z *zone) error {
	var all []measurement
	for m, err := range samples {
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s %s  %s: %s\n", between, printable(p.Name), printable(name), p.State, printable(p.Reason))
	if len(all) > 0 {
		plotMeasurements(&b, all, width, z)
	}
	if _, err := io.WriteString(std.out, b.String()); err != nil {
		return err
	}
	if len(all) == 0 {
		std.warn("no samples in that time")
	}
	return nil
}

// plotMeasurements adds the plots of all, of which there is one at least, to b.
func plotMeasurements(b *strings.Builder, all []measurement, width int, z *zone) {
	first, last := all[0].Time, all[len(all)-1].Time
	for _, f := range registry.LoadFields {
		columns := newColumns(min(width-plotMargin, len(all)), first, last)
		for _, m := range all {
			if v := m.number(&f); v >= 0 {
				columns.add(m.Time, v)
			}
		}
		if columns.used() {
			columns.plot(b, f.Title, unitTexts[f.Unit])
		}
	}
	fmt.Fprintf(b, "%*s%s to %s\n", plotMargin, "", z.text(first.Truncate(time.Second)), z.text(last.Truncate(time.Second)))
}
