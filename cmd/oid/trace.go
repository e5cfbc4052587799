package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

const traceHelp = `Show which process created an ObjectId, when that process started and ended, and
its load at the creation time. Without arguments, or with the argument "-", ids are
read from standard input. Ids may have any form that oid inspect reads.

Verdicts:
  known      one registered process owned the process block of the id when the id
             was created
  claimed    one process was adopted with the process value of the id, or has the
             host and the pid that the id contains; neither is proof
  unknown    no recorded process has ever had the process value
  conflict   recorded processes have the process value, but it is proven that none
             of them had it when the id was created
  collision  several recorded processes may have created the id
Exit code 1 means that part of the input is not an ObjectId; the command still shows
all ObjectIds.`

func newTraceCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		asJSON jsonFlag
		input  pasting
		zone   zone
	)
	cmd := &cobra.Command{
		Use:   "trace [ID...]",
		Short: "Show which process created an id, and its load",
		Long:  traceHelp,
		Example: `  oid trace 6592008029c8c3e4dc76256c
  oid trace --grep --json < app.log | jq -r .verdict`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			return using(ctx, where.openToRead, func(s store.Store) error {
				r := where.registry(s)
				tracer := registry.NewTracer(r)
				between, unknown, mayGrow := "", false, len(args) == 0 && !isRegular(std.in)
				err := input.objectIDs(ctx, std, args, func(id objectid.ID) error {
					t, err := traceAgain(ctx, std, tracer, id, mayGrow)
					if err != nil {
						return err
					}
					unknown = unknown || t.Verdict == registry.Unknown
					text := textf("%s%s", between, traceText(t, &zone))
					between = "\n"
					return asJSON.emit(std.out, towire.Trace(t), text)
				})
				if unknown {
					_, failed := warnIfEmpty(ctx, std, r)
					err = errors.Join(err, failed)
				}
				return err
			})
		},
	}
	where.addFlag(cmd)
	asJSON.addFlag(cmd, jsonObjects)
	input.addFlag(cmd)
	zone.addFlag(cmd)
	return cmd
}

// traceText formats a trace for people.
func traceText(t registry.Trace, z *zone) string {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "  %-9s %s\n", label, phrase.Shown(fmt.Sprintf(format, args...)))
	}
	fmt.Fprintf(&b, "%v  %s\n", t.ID, t.Verdict)
	line("created", "%s, %s", z.text(t.ID.Time()), phrase.Ago(t.ID.Time(), time.Now()))
	if !t.Certain {
		line("reason", "%s", t.Reason)
	}
	names := towire.Names(t.Processes)
	for i, p := range t.Processes {
		line("process", "%s%s", claimedBy(&t), strings.TrimSpace(p.Name+" "+p.Version))
		line("", "%s", names[i])
		if where := strings.TrimSpace(p.Host + " " + p.Executable); where != "" {
			line("on", "%s", where)
		}
		line("started", "%s", z.text(p.GPID.Start().Truncate(time.Second)))
		if p.End != nil {
			line("ended", "%s: %s", z.text(p.End.Time.Truncate(time.Second)), p.Reason)
		} else {
			line("state", "%s: %s; last heartbeat %s", p.State, p.Reason, z.text(p.Last.Time.Truncate(time.Second)))
		}
	}
	if near := nearest(t); near != nil {
		if load := loadText(near.Load, t.CPU); load != "" {
			line("load", "%s (sampled %s)", load, sampleOffset(near.Time.Sub(t.ID.Time())))
		}
	}
	return b.String()
}

// nearest returns the sample that was taken closest to the creation time, or nil.
func nearest(t registry.Trace) *registry.Sample {
	if t.Before == nil || t.After != nil && t.After.Time.Sub(t.ID.Time()) < t.ID.Time().Sub(t.Before.Time) {
		return t.After
	}
	return t.Before
}

// sampleOffset formats how long before or after the id a sample was taken, in whole
// seconds like the time of the id.
func sampleOffset(d time.Duration) string {
	switch d = d.Truncate(time.Second); {
	case d < 0:
		return fmt.Sprintf("%v before", -d)
	case d > 0:
		return fmt.Sprintf("%v after", d)
	}
	return "in that second"
}
