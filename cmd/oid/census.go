package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/census"
)

// interruptedNames is how long an interrupted census waits for the names of processes.
const interruptedNames = 2 * time.Second

// censusFlags are the flags of oid census.
type censusFlags struct {
	where   storeFlag
	times   timeRange
	options census.Options
	grep    bool
	by      census.Interval
	top     int
	asJSON  jsonFlag
	html    string
	memory  string
	quiet   bool
	compare bool
	ids     bool
}

const censusHelp = `Read every _id of a dump, export or live collection, and report when the documents
were created, by how many processes, and what deserves attention.

  oid help census-sources  files, folders, URLs
  oid help census-report   findings, output, --compare`

// censusSourcesHelp is the help about SOURCE.
const censusSourcesHelp = `All sources of "oid census" go into one report. A SOURCE is

  a file     .bson and --archive files of mongodump, JSON (lines or an array) and
             CSV of mongoexport, output of mongosh, a list of ids; with --grep any
             text but UTF-16. Each may be compressed with gzip or zstd. The format is
             found out from the content.
  a folder   of mongodump: every collection in it; of other files, or with --format:
             every file, as a collection of its name; with --grep: all files as one
             text. What begins with a dot is left out.
  -          what a file can be, from standard input, as without any SOURCE
  mongodb://HOST/DATABASE.COLLECTION, mongodb://HOST/DATABASE
             a collection of a MongoDB server, of which only the index on _id is
             read, or all collections of a database
  store:COLLECTION, sqlite:PATH#COLLECTION, postgres://...#COLLECTION
             a collection of the store (see "oid find"), or of another store

--collection NAME or DATABASE.NAME reads only one collection of an archive. The dots of --field
lead into nested documents; --column is for CSV, by default the field. --grep takes every 24
hexadecimal digits for an id:

  zcat app.log.gz | oid census --grep --since 7d

Unreadable records are reported and skipped, and the exit code is then 1. --memory is about
what is used, by default half of the memory of the machine or the container: ids beyond it
go to a temporary file.`

// censusReportHelp is the help about the report.
const censusReportHelp = `"oid census" shows when the ids were created, the processes with the most ids, and the
findings: what deserves attention, what may have caused it, and what to do.

Processes that are registered in the store are shown by name. Ids that hold a host and a
pid are named by them if the host is this one, or known there.

--html writes the report as a page, to a FILE or with - to standard output, instead of the
text.

With --compare there are two sources, and the report shows which ids are in one and
not in the other; --ids lists them, < for those only in the first source, > for the second.`

func newCensusCommand(std streams) *cobra.Command {
	var f censusFlags
	cmd := &cobra.Command{
		Use:   "census [SOURCE...]",
		Short: "Analyse all ids of a collection",
		Long:  censusHelp,
		Example: `  oid census dump/shop/orders.bson
  mongoexport -c orders | oid census
  oid census --field customer --html report.html mongodb://localhost/shop.orders
  oid census --compare yesterday.bson mongodb://localhost/shop.orders`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"-"}
			}
			return f.run(cmd, std, args)
		},
	}
	flags := cmd.Flags()
	f.times.addFlags(cmd)
	f.where.addFlag(cmd)
	flags.StringVar(&f.options.Field, "field", "_id", "read this `FIELD`, such as customer.id")
	flags.StringVar(&f.options.Column, "column", "", "read this `COLUMN` of CSV")
	flags.StringVar(&f.options.Collection, "collection", "", "read only the collection `NAME` of an archive")
	stringForms(census.Formats()).addFlag(cmd, &f.options.Format, "format", "auto", "how the sources are written")
	flags.BoolVar(&f.grep, "grep", false, "find ids in any text")
	stringForms(census.Intervals()).addFlag(cmd, &f.by, "by", "auto", "one row of the timeline per")
	flags.IntVar(&f.top, "top", 10, "list the `N` processes with the most ids; 0 for all")
	f.asJSON.addFlag(cmd, jsonObject)
	flags.StringVar(&f.html, "html", "", "write the report as a page to `FILE`")
	flags.StringVar(&f.memory, "memory", "", "use about this `SIZE` of memory (default half)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	flags.BoolVar(&f.compare, "compare", false, "show which ids only one source has")
	flags.BoolVar(&f.ids, "ids", false, "with --compare, list these ids")
	return cmd
}

// run reads the sources and writes the report.
func (f *censusFlags) run(cmd *cobra.Command, std streams, args []string) error {
	options, err := f.reportOptions(args)
	if err != nil {
		return err
	}
	if f.options.Range, err = f.times.parse(); err != nil {
		return err
	}
	r := &censusReader{std: std, where: &f.where, options: &f.options, quiet: f.quiet}
	if f.compare {
		return compare(cmd, std, f, r, args)
	}
	if f.ids {
		return usagef("--ids needs --compare; write oid census --compare --ids A B")
	}
	limitMemory(f.options.Memory)
	c := census.New(&f.options)
	defer c.Close()
	ctx := cmd.Context()
	stopped := r.readAll(ctx, c, args)
	switch _, byUser := errors.AsType[interrupted](stopped); {
	case byUser && c.Units() > 0:
		// What was counted is shown, and a second signal ends that.
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		c.EndEarly(stopped.Error())
		std.warn("%v: the report is partial", stopped)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), interruptedNames)
		defer cancel()
	case stopped != nil:
		return stopped
	}
	t, err := f.where.openTracer(ctx)
	if err != nil {
		std.warn("processes are shown without names: %v", err)
	}
	name, failed := t.namer(ctx)
	options.Name = name
	err = errors.Join(f.report(std, c, options), failed(), t.Close())
	if stopped != nil {
		return stopped
	}
	return err
}

// reportOptions checks the flags about the report, before anything is read.
func (f *censusFlags) reportOptions(args []string) (*census.ReportOptions, error) {
	o := census.ReportOptions{By: f.by, Zone: f.times.zone.location(), Top: cmp.Or(f.top, -1)}
	var err error
	if f.grep {
		if f.options.Format != census.FormatAuto && f.options.Format != census.FormatGrep {
			return nil, usagef("--grep does not go with --format %s", f.options.Format)
		}
		f.options.Format = census.FormatGrep
	}
	if f.top < 0 {
		return nil, usagef("--top %d: want 0 (all) or more", f.top)
	}
	if f.options.Memory, err = memorySize(f.memory); err != nil {
		return nil, err
	}
	if f.html == "" {
		return &o, nil
	}
	if f.asJSON {
		return nil, usagef("--json does not go with --html")
	}
	if err := checkFile(f.html, args); err != nil {
		return nil, usagef("--html %q: %w", f.html, err)
	}
	return &o, nil
}

// leastMemory is the least that --memory takes: less would not hold the blocks of the
// sources.
const leastMemory = 100 << 20

// memorySize returns the number of bytes in text, or the default if it is empty.
func memorySize(text string) (int64, error) {
	if text == "" {
		return census.MemoryLimit(), nil
	}
	var n int64
	if err := (sizeFlag{&n}).Set(text); err != nil || n < leastMemory {
		return 0, usagef("--memory %q: want a size of 100 MiB or more, such as 2GB", text)
	}
	return n, nil
}

// limitMemory makes the garbage collector work harder before the limit is passed, unless
// the environment has a limit of its own.
func limitMemory(limit int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
