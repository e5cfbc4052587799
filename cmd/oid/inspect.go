package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/paste"
)

// inspection is what --json writes of one id.
type inspection struct {
	Source   string    `json:"source"` // stdin or argument
	Line     int       `json:"line"`   // of the input, or the number of the argument
	Input    string    `json:"input"`  // the id as it stood there
	Stripped *stripped `json:"stripped,omitempty"`
	inspect.Report
	Maker *maker `json:"maker,omitempty"` // what the registry says, if it knows
}

// stripped is what stood around an id.
type stripped struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

func newInspectCommand(std streams) *cobra.Command {
	var (
		layout string
		asJSON bool
		where  storeFlag
	)
	cmd := &cobra.Command{
		Use:   "inspect [ID...]",
		Short: "Tell what an id says of its birth",
		Long: `Tell when an id was born and what its other bytes say, and how sure that is. Ids
come as arguments, or from standard input if there are none or one is "-".

Ids are read as they are pasted: bare, in quotes, ObjectId("..."),
{"$oid":"..."}, several on a line, or as the _id of JSON documents: a file that
mongoexport wrote, or an array, or the MongoDB shell's notation. Formats: ObjectId,
UUID, ULID, KSUID, xid, Snowflake. Within a line of a log ObjectIds, UUIDs and
ULIDs in capitals are found.

An ObjectId does not say who laid its bytes out, so all three layouts are shown,
the most plausible first. If --store or OID_STORE names a store in which processes
are recorded (see "oid join"), the process that made the id is named. Exit code 1 means that at least one piece of the input
was no id; the others are answered all the same.`,
		Example: `  oid inspect 507f1f77bcf86cd799439011
  oid inspect 'ObjectId("507f1f77bcf86cd799439011")'
  mongoexport -c orders | oid inspect --json | jq -r .time`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			options := &inspect.Options{}
			if layout != "" {
				hint, err := layoutNames.find("--layout", layout)
				if err != nil {
					return err
				}
				options.Layout = &hint
			}
			write := printer(std.out)
			if asJSON {
				encoder := json.NewEncoder(std.out)
				encoder.SetEscapeHTML(false)
				write = func(in inspection) error { return encoder.Encode(in) }
			}
			who, err := where.openMakers(cmd.Context())
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			defer func() { err = errors.Join(err, who.Close()) }()
			return inspectAll(cmd.Context(), std, args, options, who, write)
		},
	}
	cmd.Flags().StringVar(&layout, "layout", "", "the layout that the maker is known to use: "+layoutNames.names())
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object per id, on a line each")
	where.addFlag(cmd)
	layoutNames.complete(cmd, "layout")
	return cmd
}

// inspectAll inspects every id of args, or of standard input, and writes each
// with write, and with what who knows of its maker. What is no id is reported on
// std.err; so is a registry that fails, once, and the ids are answered without it.
func inspectAll(ctx context.Context, std streams, args []string, options *inspect.Options, who *makers, write func(inspection) error) error {
	bad := false
	for found := range pasted(std, args) {
		report, err := inspect.Report{}, found.Err
		if err == nil {
			report, err = inspect.Inspect(found.Text, options)
		}
		if err != nil {
			bad = true
			fmt.Fprintf(std.err, "oid: %s: %v\n", found.place(), err)
			continue
		}
		in := inspection{found.source, found.Line, found.Text, newStripped(found.Found), report, nil}
		if id, err := objectid.Parse(report.ID); err == nil {
			if in.Maker, err = who.of(ctx, id); err != nil {
				bad = true
				fmt.Fprintf(std.err, "oid: registry: %v\n", err)
				who = nil
			}
		}
		if err := write(in); err != nil {
			return err
		}
	}
	if bad {
		return errReported
	}
	return nil
}

// pastedID is an id that somebody gave to the command.
type pastedID struct {
	source string // stdin or argument
	paste.Found
}

// place says where the id was, for an error about it.
func (p pastedID) place() string {
	if p.source == "stdin" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("argument %d", p.Line)
}

// pasted yields the ids in args, or those in standard input if there are no args
// or where one is "-". The line of an argument's id is the argument's number.
func pasted(std streams, args []string) iter.Seq[pastedID] {
	if len(args) == 0 {
		args = []string{"-"}
	}
	return func(yield func(pastedID) bool) {
		for i, arg := range args {
			source, ids := "argument", paste.ScanString(arg)
			switch {
			case arg == "-":
				hintAtStdin(std)
				source, ids = "stdin", paste.Scan(std.in)
			case strings.TrimSpace(arg) == "":
				ids = slices.Values([]paste.Found{{Err: errors.New("empty, want an id")}})
			}
			for found := range ids {
				if source == "argument" {
					found.Line = i + 1
				}
				if !yield(pastedID{source, found}) {
					return
				}
			}
		}
	}
}

// hintAtStdin tells somebody at a terminal what the command waits for.
func hintAtStdin(std streams) {
	if f, ok := std.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintln(std.err, "oid: paste ids, then press Ctrl-D")
	}
}

func newStripped(f paste.Found) *stripped {
	if f.Before == "" && f.After == "" {
		return nil
	}
	return &stripped{f.Before, f.After}
}

// printer returns a function that writes inspections for people to read.
func printer(w io.Writer) func(inspection) error {
	between := ""
	return func(in inspection) error {
		var b strings.Builder
		fmt.Fprintf(&b, "%s%s\n", between, in.ID)
		between = "\n"
		if in.Time != nil {
			fmt.Fprintf(&b, "  %-9s %s, %s\n", "born", in.Time.Format(time.RFC3339Nano), ago(time.Now().Unix()-in.Time.Unix()))
		}
		if in.Maker != nil {
			fmt.Fprintf(&b, "  %-9s %s\n", "maker", in.Maker)
		}
		for _, r := range in.Readings {
			fmt.Fprintf(&b, "  %-9s %s: %s\n            %s\n", r.Verdict, strings.TrimSpace(string(r.Format)+" "+r.Variant), r.Reason, fieldLine(r.Fields))
			if r.Time != nil && in.Time != nil && !r.Time.Equal(*in.Time) {
				fmt.Fprintf(&b, "            born %s\n", r.Time.Format(time.RFC3339Nano))
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
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
	return strings.Join(parts, "  ")
}

// ago says in words how many seconds ago something was, or how far ahead it lies.
func ago(seconds int64) string {
	form := "%d %s ago"
	if seconds < 0 {
		seconds, form = -seconds, "in %d %s"
	}
	const day = 24 * 60 * 60
	for _, unit := range []struct {
		name    string
		seconds int64
	}{{"year", 36525 * day / 100}, {"day", day}, {"hour", 60 * 60}, {"minute", 60}, {"second", 1}} {
		if n := seconds / unit.seconds; n == 1 {
			return fmt.Sprintf(form, n, unit.name)
		} else if n > 1 {
			return fmt.Sprintf(form, n, unit.name+"s")
		}
	}
	return "just now"
}
