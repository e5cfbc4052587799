package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/platform"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
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

With --link the command prints links to other programs, such as to the logs of the pod:

  --link 'logs=https://logs.example/?pod={k8s.pod.name}&from={from:ms}&to={to:ms}'

A placeholder is the name of an attribute or of a label by which the process describes
itself; or id, gpid or pid; or a time. {time} is the creation time, {from} and {to} are
five minutes before and after it, and {time-1h} is an hour before it. With :s, :ms, :us
or :ns a time is the number of these units since 1970. If a value is not known, the
command prints what is missing.

Exit code 1 means that part of the input is not an ObjectId; the command still shows
all ObjectIds.`

func newTraceCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		asJSON jsonFlag
		input  pasting
		zone   zone
		links  []string
	)
	cmd := &cobra.Command{
		Use:   "trace [ID...]",
		Short: "Show which process created an id, and its load",
		Long:  traceHelp,
		Example: `  oid trace 6592008029c8c3e4dc76256c
  oid trace --grep --json < app.log | jq -r .verdict`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			templates, err := towire.ParseLinks(links)
			if err != nil {
				return usageError{err}
			}
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
					out := towire.Trace(t)
					out.Links = templates.Of(&t)
					text := textf("%s%s", between, traceText(t, out.Links, &zone))
					between = "\n"
					return asJSON.emit(std.out, out, text)
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
	addLinks(cmd, &links)
	return cmd
}

// addLinks adds the flag --link, whose default is in OID_LINKS: templates with blanks or line
// breaks between them.
func addLinks(cmd *cobra.Command, links *[]string) {
	cmd.Flags().StringArrayVar(links, "link", strings.Fields(os.Getenv("OID_LINKS")), "make a link for each id from this template, `NAME=URL`; may be repeated (default OID_LINKS)")
	cmd.Flags().Lookup("link").DefValue = "[]" // help does not depend on the environment
}

// traceText formats a trace for people.
func traceText(t registry.Trace, links []wire.Link, z *zone) string {
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
		label, gpid := "it says", ""
		for _, f := range platform.Facts(p.Labels) {
			line(label, "%s %s", f.Word, f.Value)
			label, gpid = "", "gpid"
		}
		line(gpid, "%s", names[i])
		if id := p.InstanceID(); id != "" {
			line("instance", "%s", id)
		}
		if where := strings.TrimSpace(p.Host + " " + p.Executable); where != "" {
			line("on", "%s", where)
		}
		line("started", "%s%s", map[bool]string{true: "not known, at the latest "}[p.StartUnknown], z.text(p.GPID.Start().Truncate(time.Second)))
		if p.End != nil {
			line("ended", "%s: %s", z.text(p.End.Time.Truncate(time.Second)), p.Reason)
		} else {
			line("state", "%s: %s; last heartbeat %s", p.State, p.Reason, z.text(p.Last.Time.Truncate(time.Second)))
		}
	}
	if d := towire.Trace(t).Deploy; d != nil {
		line("version", "%s", d.Text)
	}
	if near := nearest(t); near != nil {
		if load := loadText(near.Load, t.CPU); load != "" {
			line("load", "%s (sampled %s)", load, sampleOffset(near.Time.Sub(t.ID.Time())))
		}
	}
	for _, l := range links {
		if l.Problem != "" {
			l.URL = "no link, because " + l.Problem
		}
		line("link", "%s: %s", l.Name, l.URL)
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
