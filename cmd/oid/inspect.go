package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

func newInspectCommand(std streams) *cobra.Command {
	var (
		layout string
		asJSON jsonFlag
		where  storeFlag
		input  pasting
		zone   zone
	)
	cmd := &cobra.Command{
		Use:   "inspect [ID...]",
		Short: "Show an id's creation time and fields",
		Long: `Show when an id was created and what its other bytes mean, and how sure that is.
Ids are arguments, or come from standard input if there are none or one is "-".

Ids are read as they are pasted: bare, in quotes, ObjectId("..."),
{"$oid":"..."}, several on a line, or as the _id of JSON documents: a file that
mongoexport wrote, an array, or the notation of the MongoDB shell; as twelve bytes
in base64, in a hex dump or as Go, Node.js, Java and Python print them. Formats:
` + inspect.Names() + `.

Within a line of a log, ObjectIds, UUIDs, ULIDs in capitals, TypeIDs and gpids are
found, and lines without an id are ignored. With --grep all text is read like that.
An id that begins with a hyphen goes after "--".

The bytes of an ObjectId alone do not reveal which layout was used, so all three
are shown, the most plausible first. Some drivers still write the host and the pid:
an id with the bytes of this host, or of a recorded one, is read so. With --store or
OID_STORE, the process that created the id is shown if it is recorded (see "oid
adopt").

Exit code 1 means that something at the place of an id is not one, or that there is
no id at all; all others are shown.

` + zoneHelp,
		Example: `  oid inspect 507f1f77bcf86cd799439011
  oid inspect 'ObjectId("507f1f77bcf86cd799439011")'
  mongoexport -c orders | oid inspect --json | jq -r .time
  oid inspect --grep < app.log`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			options := &inspect.Options{}
			if layout != "" {
				hint, err := layouts.find("--layout", layout)
				if err != nil {
					return err
				}
				options.Layout = &hint
			}
			t, err := where.openTracer(cmd.Context())
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			defer func() { err = errors.Join(err, t.Close()) }()
			i := inspection{std: std, options: options, tracer: t, asJSON: asJSON, input: input, zone: &zone}
			return i.run(cmd.Context(), args)
		},
	}
	cmd.Flags().StringVar(&layout, "layout", "", "the layout of the ids, if it is known: "+layouts.names())
	asJSON.addFlag(cmd, jsonObjects)
	input.addFlag(cmd)
	zone.addFlag(cmd)
	where.addFlag(cmd)
	layouts.complete(cmd, "layout")
	return cmd
}

// inspection is one run of oid inspect.
type inspection struct {
	std     streams
	options *inspect.Options
	tracer  *tracer
	asJSON  jsonFlag
	input   pasting
	zone    *zone
	between string // line between two ids
}

// run shows the ids in args. Text that is not an id is reported. A registry that
// fails is reported once, and the other ids are shown without it.
func (i *inspection) run(ctx context.Context, args []string) error {
	bad := false
	for found := range i.input.ids(ctx, i.std, args) {
		report, err := inspect.Report{}, found.Err
		if err == nil {
			report, err = inspect.Inspect(found.Text, i.options)
		}
		if err != nil {
			bad = true
			i.std.warn("%s: %v", found.place(), err)
			continue
		}
		var trace *registry.Trace
		if id, err := objectid.Parse(report.ID); err == nil {
			if trace, err = i.tracer.trace(ctx, id); err != nil {
				bad = true
				i.std.warn("processes are not shown: %v", err)
				i.tracer = nil
			}
			if trace != nil && trace.Classic != nil { // of a recorded host
				o := *i.options
				o.Hosts = []string{trace.Classic.Host}
				report, _ = inspect.Inspect(found.Text, &o) // it was read before
			}
		}
		if err := i.show(found, report, trace); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if bad {
		return errReported
	}
	return nil
}

func (i *inspection) show(found pastedID, report inspect.Report, trace *registry.Trace) error {
	out := towire.Inspection(report)
	out.Found = &wire.Found{Source: found.source, Line: found.Line, Text: found.Text, Before: found.Before, After: found.After}
	if trace != nil {
		out.Trace = new(towire.Trace(*trace))
	}
	err := i.asJSON.emit(i.std.out, out, func(w io.Writer) error {
		_, err := io.WriteString(w, i.between+inspectionText(report, trace, i.zone))
		return err
	})
	i.between = "\n"
	return err
}

func inspectionText(report inspect.Report, trace *registry.Trace, z *zone) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", report.ID)
	if report.Time != nil {
		fmt.Fprintf(&b, "  %-9s %s, %s\n", "created", z.text(*report.Time), phrase.Ago(*report.Time, time.Now()))
	}
	if process := processLine(trace); process != "" {
		fmt.Fprintf(&b, "  %-9s %s\n", "process", process)
		for _, p := range trace.Processes {
			if p.Clock != nil {
				fmt.Fprintf(&b, "  %-9s %v\n", "clock", p.Clock)
			}
		}
	}
	for _, r := range report.Readings {
		fmt.Fprintf(&b, "  %-9s %s: %s\n            %s\n", r.Verdict, strings.TrimSpace(string(r.Format)+" "+r.Variant), printable(r.Reason), fieldLine(r.Fields))
		if r.Time != nil && report.Time != nil && !r.Time.Equal(*report.Time) {
			fmt.Fprintf(&b, "            created %s\n", z.text(*r.Time))
		}
	}
	return b.String()
}

func fieldLine(fields []inspect.Field) string {
	var parts []string
	for _, f := range fields {
		part := f.Name + " " + f.Hex
		if f.Number != nil {
			part += fmt.Sprintf(" (%d)", *f.Number)
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return "no fields"
	}
	return strings.Join(parts, "  ")
}
