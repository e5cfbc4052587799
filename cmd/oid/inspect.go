package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

var inspectHelp = `Show when an id was created and what its other bytes mean, and how certain that is.
Give ids as arguments, or on standard input if there are no arguments or one is "-".

An id may be bare, in quotes, ObjectId("...") or {"$oid":"..."}, or as other programs print
it, such as <Buffer 50 7f ...> of Node or the members of Java's ObjectId. A line may have
several ids. The command also reads the _id of JSON documents: the output of
mongoexport, an array, or the notation of the MongoDB shell. An ObjectId that stands
alone may also be written as base64 of its bytes. Formats:
` + inspect.Names() + `.

In a log, the command finds ObjectIds, UUIDs, ULIDs in capitals, TypeIDs and gpids,
and ignores lines without an id. With --grep it treats all text as a log. Write an id
that begins with a hyphen after "--".

The bytes of an ObjectId do not tell which of three layouts it has. The command shows all
three, the most plausible first. Some drivers still write the host and the pid into their
ids: the command recognizes this host and the hosts recorded in the store. If the store
knows the process that created the id, the command shows it; "oid trace" shows more about
that process.

The exit code is 1 if the input has no id, or if it has an invalid one. All other ids are
still shown.`

func newInspectCommand(std streams) *cobra.Command {
	var (
		asJSON jsonFlag
		where  storeFlag
		input  pasting
		zone   zone
	)
	cmd := &cobra.Command{
		Use:   "inspect [ID...]",
		Short: "Show an id's creation time and fields",
		Long:  inspectHelp,
		Example: `  oid inspect 507f1f77bcf86cd799439011
  oid inspect 'ObjectId("507f1f77bcf86cd799439011")'
  mongoexport -c orders | oid inspect --json | jq -r .time
  oid inspect --grep < app.log`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			t, err := where.openTracer(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = cmp.Or(err, t.Close()) }()
			i := inspection{std: std, tracer: t, asJSON: asJSON, input: input, zone: &zone}
			return i.run(cmd.Context(), args)
		},
	}
	asJSON.addFlag(cmd, jsonObjects)
	input.addFlag(cmd)
	zone.addFlag(cmd)
	where.addFlag(cmd)
	return cmd
}

// inspection is one run of oid inspect.
type inspection struct {
	std    streams
	tracer *tracer
	asJSON jsonFlag
	input  pasting
	zone   *zone
}

// inspected is the output for some ids.
type inspected struct {
	out []byte
	err bytes.Buffer
	bad bool // an error was reported

	buffer inspect.Buffer
	json   towire.Inspections
}

// run shows the ids in args and reports text that is not an id.
func (i *inspection) run(ctx context.Context, args []string) error {
	// Most of the heap is garbage, so collect it less often.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	feed := func(ctx context.Context, add func(pastedID), flush func()) error {
		i.input.waits = flush
		for found := range i.input.ids(ctx, i.std, args) {
			add(found)
		}
		return nil
	}
	widen(i.std.out)
	bad, skip := false, 1 // the first id has no empty line before it
	if i.asJSON {
		skip = 0
	}
	err := inOrder(ctx, runtime.GOMAXPROCS(0), feed, func(ids []pastedID) *inspected { return i.inspect(ctx, ids) }, func(of *inspected) error {
		bad = bad || of.bad
		_, err := of.err.WriteTo(i.std.err)
		if len(of.out) == 0 {
			return err
		}
		_, outErr := i.std.out.Write(of.out[skip:])
		skip = 0
		inspections.Put(of)
		return errors.Join(err, outErr)
	})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if bad {
		return errReported
	}
	return nil
}

// inspections keeps the memory of outputs for later ids.
var inspections = sync.Pool{New: func() any { return new(inspected) }}

func (i *inspection) inspect(ctx context.Context, ids []pastedID) *inspected {
	out := inspections.Get().(*inspected)
	out.bad = false
	b := out.out[:0]
	std, now := streams{err: &out.err}, i.zone.now()
	options := inspect.Options{Now: func() time.Time { return now }, Buffer: &out.buffer}
	text := inspectionText{now: now}
	for _, found := range ids {
		report, err := inspect.Report{}, found.err
		if err == nil {
			report, err = inspect.Inspect(found.Text, &options)
		}
		if err != nil {
			out.bad = true
			std.warn("%s: %v%s", found.place(), err, asTimes(found.Text, now))
			continue
		}
		var trace *registry.Trace
		if objectid.Valid(report.ID) {
			trace = i.tracer.trace(ctx, std, objectid.MustParse(report.ID))
			if trace != nil && trace.Classic != nil { // it has the bytes of a recorded host
				o := options
				o.Hosts = []string{trace.Classic.Host}
				report, _ = inspect.Inspect(found.Text, &o) // succeeded before without Hosts
			}
		}
		if i.asJSON {
			place := wire.Found{Source: found.source, Line: found.Line, Text: found.Text, Before: found.Before, After: found.After}
			var process *wire.Trace
			if trace != nil {
				process = new(towire.Trace(*trace))
			}
			b = out.json.Append(b, report, place, process)
		} else {
			b = text.append(append(b, '\n'), report, trace)
		}
	}
	out.out = b
	return out
}

// asTimes returns a hint for each way to read text as a time: the time, and the oid range
// command for its second. Each hint is a line. If text is not a time, asTimes returns "".
func asTimes(text string, now time.Time) (hint string) {
	for _, r := range timerange.Readings(text, now) {
		t := r.Time.Format(time.RFC3339)
		hint += fmt.Sprintf("\nhint: as %s this is %s; run oid range --from %s --to +1s", strings.TrimSpace(r.As+" "+r.Zone), t, t)
	}
	return hint
}

// inspectionText writes reports as text. It keeps the text of times and headings, which is
// often the same for the next id.
type inspectionText struct {
	now     time.Time // in the zone of the text
	created phrase.Memo[time.Time]
	heads   phrase.Memo[towire.Head]
}

func (in *inspectionText) append(b []byte, report inspect.Report, trace *registry.Trace) []byte {
	b = append(append(b, report.ID...), '\n')
	if report.Time != nil {
		b = in.created.Append(b, 0, *report.Time, func(b []byte, t time.Time) []byte {
			b = t.In(in.now.Location()).AppendFormat(append(b, "  created   "...), time.RFC3339Nano)
			return append(append(append(b, ", "...), phrase.Ago(t, in.now)...), '\n')
		})
	}
	if process := processLine(trace); process != "" {
		b = fmt.Appendf(b, "  process   %s\n", process)
		for _, p := range trace.Processes {
			if p.Clock != nil {
				b = fmt.Appendf(b, "  clock     %v\n", p.Clock)
			}
		}
	}
	for i := range report.Readings {
		r := &report.Readings[i]
		b = in.heads.Append(b, len(r.Reason), towire.HeadOf(r), appendHead)
		b = append(appendFields(b, r.Fields), '\n')
		if r.Time != nil && report.Time != nil && !r.Time.Equal(*report.Time) {
			b = r.Time.In(in.now.Location()).AppendFormat(append(b, "            created "...), time.RFC3339Nano)
			b = append(b, '\n')
		}
	}
	return b
}

func appendHead(b []byte, h towire.Head) []byte {
	name := strings.TrimSpace(string(h.Format) + " " + h.Variant)
	return fmt.Appendf(b, "  %-9s %s: %s\n            ", h.Verdict, name, phrase.Shown(h.Reason))
}

func appendFields(b []byte, fields []inspect.Field) []byte {
	if len(fields) == 0 {
		return append(b, "no fields"...)
	}
	for i, f := range fields {
		if i > 0 {
			b = append(b, "  "...)
		}
		b = append(append(append(b, f.Name...), ' '), f.Hex...)
		if f.Number != nil {
			b = append(strconv.AppendUint(append(b, " ("...), *f.Number, 10), ')')
		}
	}
	return b
}
