package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

const historyHelp = `List the samples of the load of a process. GPID is the identity that oid ps and oid
trace show, ip:port:start_time:pid. Processes of several hosts that have the same
identity come one after the other; with --json each sample has its member key.

CPU is in percent of one processor, since the sample before.`

func newHistoryCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		times  timeRange
		asJSON jsonFlag
	)
	cmd := &cobra.Command{
		Use:     "history GPID",
		Short:   "List the load of a process over time",
		Long:    historyHelp,
		Example: `  oid history 10.0.0.7:8080:1795166651598985:4711 --since 2h`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			g, err := gpid.Parse(args[0])
			if err != nil {
				return usageError{err}
			}
			from, to, err := times.span().Times(times.zone.now())
			if err != nil {
				return ofFlag(err)
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
					samples := r.History(cmd.Context(), p.Key(), *cmp.Or(from, &time.Time{}), *cmp.Or(to, &time.Time{}))
					if asJSON {
						err = writeSamples(std.out, asJSON, p.Key(), samples)
					} else {
						err = writeHistory(std, between, p, name, samples, &times.zone)
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
	asJSON.addFlag(cmd, jsonObjects)
	return cmd
}

// membersOf returns the recorded processes of an identity, one at least.
func membersOf(ctx context.Context, r *registry.Registry, g gpid.GPID) (members []registry.Status, err error) {
	for p, err := range r.All(ctx, registry.Query{GPID: g}) {
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

func writeSamples(w io.Writer, asJSON jsonFlag, member registry.MemberKey, samples iter.Seq2[registry.Sample, error]) error {
	var before *registry.Sample
	for s, err := range samples {
		if err != nil {
			return err
		}
		if err := asJSON.emit(w, towire.Sample(member, before, s), nil); err != nil {
			return err
		}
		before = &s
	}
	return nil
}

// unitTexts write the numbers of the load. A time that the process has used is shown as
// how much of it was used at a time.
var unitTexts = map[registry.Unit]func(float64) string{
	registry.Count: countText, registry.Bytes: bytesText, registry.Nanoseconds: cpuText,
}

// writeHistory writes the samples of a process of a name as a table, after between.
func writeHistory(std streams, between string, p *registry.Status, name string, samples iter.Seq2[registry.Sample, error], z *zone) error {
	table := [][]string{{"TIME"}}
	for _, f := range registry.LoadFields() {
		table[0] = append(table[0], strings.ToUpper(f.Title))
	}
	var before *registry.Sample
	for s, err := range samples {
		if err != nil {
			return err
		}
		row := []string{z.text(s.Time.Truncate(time.Second))}
		for _, f := range registry.LoadFields() {
			n := float64(*f.Of(&s.Load))
			if f.Unit == registry.Nanoseconds {
				n = registry.CPUUsed(before, &s)
			}
			row = append(row, known(n, unitTexts[f.Unit]))
		}
		table, before = append(table, row), &s
	}
	if _, err := fmt.Fprintf(std.out, "%s%s %s  %s: %s\n", between, phrase.Shown(p.Name), phrase.Shown(name), p.State, phrase.Shown(p.Reason)); err != nil {
		return err
	}
	if len(table) == 1 {
		std.warn("no samples in that time")
		return nil
	}
	return writeTable(std.out, table)
}
