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
  - Each process has one generator. Its process value depends on --layout:
      modern   as oid does: a random one of 192 * 2^32 values (39.6 bits)
      driver   as MongoDB's drivers do: a random one of 2^40 values. A driver
               that creates more than 2^24 ids a second repeats its own ids.
  - All N processes run at the same time, for the whole of --over, and their
    clocks agree.
  - Each process creates R consecutive ids in every second, and begins every second
    at a random counter value. If R is less than 1, a process creates one id in a
    fraction R of the seconds; otherwise R is rounded up.
  - Two processes with the same process value create an id twice if, in some second,
    both use the same counter value. In the modern layout a counter that overflows
    continues in the next process value, which another process may have.

The chance of sharing a process value is exact. The chance that an id is created
twice is exact for two processes. For more processes it is an upper bound, because a
collision of three processes counts as three collisions of two. The bound is too high
by less than N parts in 10^9.

In the modern layout, one process never repeats an id, however large R is. Processes with
process blocks from a registry never share a process value: their chance is 0.`,
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
