package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/census"
	censusreport "github.com/oidkit/oid/census/report"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
)

var censusFormats = stringForms(source.Formats)

var censusSteps = stringForms(census.Steps)

// censusFlags are the flags of oid census.
type censusFlags struct {
	where   storeFlag
	times   timeRange
	options census.Options
	format  string
	grep    bool
	by, tz  string
	top     int
	asJSON  bool
	html    string
	quiet   bool
	compare bool
	ids     bool
}

func newCensusCommand(std streams) *cobra.Command {
	var f censusFlags
	cmd := &cobra.Command{
		Use:   "census [SOURCE...]",
		Short: "Tell what the ids of a whole collection say",
		Long: `Read every _id of a dump, an export or a live collection, and tell when the
documents were made, by how many processes, and what is wrong with the ids. All
sources go into one report. A SOURCE is

  a file     .bson and --archive files of mongodump, JSON (lines or an array) and
             CSV of mongoexport, a list of ids; with --grep any text. Each may be
             compressed with gzip. The content tells which it is.
  -          the same from standard input, as without any SOURCE
  mongodb://HOST/DATABASE.COLLECTION
             a collection of a MongoDB server; only its index on _id is read
  store:COLLECTION, sqlite:PATH#COLLECTION, postgres://...#COLLECTION
             a collection of the store (see "oid find"), or of another store

What cannot be read is said and passed over, and the exit code is then 1. With
--store or OID_STORE, writers that are recorded there stand with their names.

With --compare there are two sources, and the answer is which ids are in one and
not in the other.

` + rangeHelp,
		Example: `  oid census dump/shop/orders.bson
  mongoexport -d shop -c orders | oid census
  oid census --field customer --html report.html mongodb://localhost/shop.orders
  zcat app.log.gz | oid census --grep --since 7d
  oid census --compare yesterday.bson mongodb://localhost/shop.orders`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"-"}
			}
			view, err := f.view(cmd, args)
			if err != nil {
				return err
			}
			if f.options.Range, err = f.times.parse(time.Now()); err != nil {
				return err
			}
			r := &censusReader{std: std, flags: &f}
			if f.compare {
				return compare(cmd, std, &f, r, args)
			}
			if f.ids {
				return usagef("--ids goes with --compare")
			}
			c := census.New(&f.options)
			if err := r.readAll(cmd.Context(), c, args); err != nil {
				return err
			}
			makers, err := f.where.openMakers(cmd.Context())
			if err != nil {
				fmt.Fprintf(std.err, "oid: writers stay without names: %v\n", err)
			}
			name, failed := makers.namer(cmd.Context())
			view.Name = name
			return errors.Join(f.report(std, c, view), failed(), makers.Close())
		},
	}
	flags := cmd.Flags()
	f.times.addFlags(cmd)
	f.where.addFlag(cmd)
	flags.StringVar(&f.options.Field, "field", "_id", "read this `FIELD` of the documents; dots lead into others")
	flags.StringVar(&f.options.Column, "column", "", "read this `COLUMN` of CSV (default the field)")
	flags.StringVar(&f.options.Collection, "collection", "", "read this collection of an archive alone, `NAME` or DATABASE.NAME")
	flags.StringVar(&f.format, "format", "auto", "what the sources are: "+censusFormats.names())
	flags.BoolVar(&f.grep, "grep", false, "take every 24 hexadecimal digits of any text for an id")
	flags.StringVar(&f.by, "by", "auto", "step of the timeline: "+censusSteps.names())
	flags.StringVar(&f.tz, "tz", "UTC", "time `ZONE` of the report, such as Europe/Berlin or Local")
	flags.IntVar(&f.top, "top", 10, "list the `N` writers with the most ids; 0 for all")
	flags.BoolVar(&f.asJSON, "json", false, "write one JSON object")
	flags.StringVar(&f.html, "html", "", "write the report as a page into this `FILE`, or - for standard output, and nothing else")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	flags.BoolVar(&f.compare, "compare", false, "tell which ids are in one of two sources and not in the other")
	flags.BoolVar(&f.ids, "ids", false, "with --compare: list these ids, < for those only in the first, > for the second")
	censusFormats.complete(cmd, "format")
	censusSteps.complete(cmd, "by")
	return cmd
}

// namer returns a function that names the maker of an id, or nobody, and one that
// returns what went wrong in it. Without a registry the first is nil.
func (m *makers) namer(ctx context.Context) (name func(objectid.ID) string, failed func() error) {
	var failure error
	failed = func() error { return failure }
	if m == nil {
		return nil, failed
	}
	return func(id objectid.ID) string {
		known, err := m.of(ctx, id)
		if failure == nil {
			failure = err
		}
		if known == nil {
			return ""
		}
		return known.Process
	}, failed
}

// view checks the flags that concern the report, before anything is read.
func (f *censusFlags) view(cmd *cobra.Command, args []string) (*census.ReportOptions, error) {
	var view census.ReportOptions
	var err error
	if f.options.Format, err = censusFormats.find("format", f.format); err != nil {
		return nil, err
	}
	if f.grep {
		if f.options.Format != source.Auto && f.options.Format != source.Grep {
			return nil, usagef("--grep does not go with --format %s", f.format)
		}
		f.options.Format = source.Grep
	}
	if view.By, err = censusSteps.find("by", f.by); err != nil {
		return nil, err
	}
	if view.Zone, err = time.LoadLocation(f.tz); err != nil {
		return nil, usagef("--tz %q: no such time zone; want UTC, Local or a name such as Europe/Berlin", f.tz)
	}
	switch {
	case f.top < 0:
		return nil, usagef("--top %d: want 0 (all) or more", f.top)
	case f.top == 0:
		view.Top = -1
	default:
		view.Top = f.top
	}
	if f.asJSON && f.html != "" {
		return nil, usagef("--json does not go with --html")
	}
	if cmd.Flags().Changed("html") {
		if err := checkTarget(f.html, args); err != nil {
			return nil, usagef("--html %q: %w", f.html, err)
		}
	}
	return &view, nil
}

// report writes what c holds in the form that the flags ask for.
func (f *censusFlags) report(std streams, c *census.Census, view *census.ReportOptions) error {
	r, err := c.Report(view)
	switch {
	case errors.Is(err, census.ErrTooFine):
		return usageError{err}
	case err != nil:
		return err
	case f.html != "":
		if r.IDs == 0 && r.Broken() {
			return errReported // a page about nothing must not replace one about something
		}
		err = writeFile(std.out, f.html, func(w io.Writer) error { return censusreport.WriteHTML(w, r) })
	case f.asJSON:
		err = writeJSON(std.out, towire.Census(r))
	default:
		err = censusreport.WriteText(std.out, r, screenOf(std.out))
	}
	if err == nil && r.Broken() {
		err = errReported
	}
	return err
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// compare carries out oid census --compare.
func compare(cmd *cobra.Command, std streams, f *censusFlags, r *censusReader, args []string) error {
	switch {
	case len(args) != 2:
		return usagef("--compare wants two sources, not %d", len(args))
	case f.html != "":
		return usagef("--compare does not go with --html")
	case f.asJSON && f.ids:
		return usagef("--ids does not go with --json")
	}
	f.options.Values = true
	a, b := census.New(&f.options), census.New(&f.options)
	for i, c := range []*census.Census{a, b} {
		if err := r.readAll(cmd.Context(), c, args[i:i+1]); err != nil {
			return err
		}
	}
	return writeDifference(std, f, a, b)
}

func writeDifference(std streams, f *censusFlags, a, b *census.Census) error {
	var list func(bool, objectid.ID) error
	out := bufio.NewWriterSize(std.out, 1<<16)
	if f.ids {
		list = func(inA bool, id objectid.ID) error {
			mark := "> "
			if inA {
				mark = "< "
			}
			_, err := out.WriteString(mark + id.String() + "\n")
			return err
		}
	}
	d, err := census.Compare(a, b, list)
	switch {
	case err != nil:
		return err
	case f.ids:
		err = out.Flush()
	case f.asJSON:
		err = writeJSON(std.out, towire.Difference(d))
	default:
		err = censusreport.WriteDifference(std.out, d, screenOf(std.out))
	}
	if err == nil && d.Broken() {
		err = errReported
	}
	return err
}
