package main

import (
	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/odds"
	"github.com/oidkit/oid/server/wire"
)

func newOddsCommand(std streams) *cobra.Command {
	var processes, rate, over, layout string
	var asJSON jsonFlag
	cmd := &cobra.Command{
		Use:   "odds --processes N [--rate R] [--over D] [--layout L]",
		Short: "Calculate the chance of a collision",
		Long: `Calculate the chance that two of N processes draw the same process value, and the
chance that an id is created twice.

Assumptions:
  - Each process has one generator and a process value of the --layout:
      modern   that of oid: one of 192 * 2^32 values at random, 39.6 bits
      driver   that of MongoDB's drivers: one of 2^40 at random; beyond 2^24 ids
               a second they repeat ids by themselves
  - All N run at the same time, with clocks that agree, for the whole of --over.
  - Each creates R consecutive ids in every second; in every second the counters
    are random and independent. With R below 1 a process creates an id in a share
    R of the seconds; above, R is rounded up.
  - Two processes have the same process value, or neighbouring ones where the
    first counter overflows into the second value. They create an id twice if in
    some second their ranges of the counter overlap.

The chance of sharing a value is exact. The chance of a repeat is exact for two
processes; for more it counts a collision of three as three collisions of two, so
it is never too low, and too high by less than N parts in 10^9.

Within one process no id repeats at any rate, and processes with a process block
from a registry never share one: their chance is 0.`,
		Example: `  oid odds --processes 1000 --rate 500
  oid odds --processes 1e6 --rate 0.1 --over 10000d`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if processes == "" {
				return usagef("--processes is missing; write oid odds --processes N")
			}
			q, err := odds.Parse(processes, rate, over, layout)
			if err != nil {
				return usagef("--%w", err)
			}
			o := wire.Odds{Processes: q.Processes, IDsEach: q.Rate, OverSeconds: q.Seconds}
			if layout != "modern" {
				o.Layout = layout
			}
			o.SharedValue, o.RepeatedID = odds.Of(q)
			return asJSON.emit(std.out, o, textf("two of %s processes share a process value: %s\nan id is created twice, at %s ids a second each, over %s: %s\nwith process blocks from a registry, up to 2^32: 0\n",
				processes, odds.Text(o.SharedValue), rate, over, odds.Text(o.RepeatedID)))
		},
	}
	f := cmd.Flags()
	f.StringVar(&processes, "processes", "", "number of processes, from 1 to 10^18")
	f.StringVar(&rate, "rate", "1000", "ids that each process creates per second, up to 10^9")
	f.StringVar(&over, "over", "365d", "how long the processes run")
	stringForms(odds.Layouts).addFlag(cmd, &layout, "layout", "modern", "the `LAYOUT` of the ids")
	asJSON.addFlag(cmd, jsonObject)
	return cmd
}
