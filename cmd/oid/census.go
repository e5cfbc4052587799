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
	"github.com/oidkit/oid/objectid"
)

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
	quiet   bool
	compare bool
	ids     bool
}

const censusHelp = `Read every _id of a dump, export or live collection, and report when the documents
were created, by how many processes, and what deserves attention.

  oid help census-sources  files, folders, URLs
  oid help census-report   findings, output, --compare`

// censusSourcesHelp is the help about SOURCE.
const censusSourcesHelp = `"oid census" writes one report about all its sources. Each SOURCE is one of these:

  FILE       a .bson or --archive file of mongodump, JSON or CSV of mongoexport,
             output of mongosh, or a list with one id per line; with --grep, any
             text except UTF-16
             The file may be compressed with gzip, zstd, xz, bzip2 or lz4. It may
             be a tar or a zip, also a compressed one: every file in it is read, as
             in a FOLDER. The format is detected from the content, not the name.
  FOLDER     every file in it is a collection, which is named after the file; with
             --grep: all files are one text
             Files and folders with a dot before their names are skipped, and so is
             what mongodump writes beside the documents of a collection.
  -          standard input, in any format of a FILE; this is the default
  mongodb://HOST/DATABASE.COLLECTION
             a collection of a MongoDB server; if the field is _id, only its
             index is read
  mongodb://HOST/DATABASE
             all collections of a database
  store:COLLECTION
             a collection of the store, which --store or OID_STORE names
  sqlite:PATH#TABLE, postgres://...#TABLE, mysql://...#TABLE
             a table or view of a database, as TABLE or SCHEMA.TABLE; for SQLite,
             PATH alone will do if it has only one. mysql:// also reads MariaDB.
  sqlite:PATH#COLLECTION, postgres://...#COLLECTION
             a collection of another store, if no table has the name

Only one column of a table is read, in one read-only transaction; --column names it.
Without --column, it is the first of these whose first 100 rows have ids: the column _id,
the primary key, the column id, or the only other column with ids. An id is 12 bytes, or
a text of 24 digits, perhaps in a notation such as \x... or ObjectId("..."). UUIDs and
other values are counted by type.

--format sets the format of all sources. --collection NAME or DATABASE.NAME selects one
collection of an archive. --column names the column of CSV, by default the field. --grep
finds the ObjectIds in any text, as "oid annotate" does: 24 hexadecimal digits, also behind
escapes such as \x22:

  oid census --grep --since 7d logs.tar.gz

--field customer.id reads the field "id" of the nested document "customer". Arrays on the
way are searched, and so are strings that contain JSON. A * in the path means all members of
an object or all elements of an array. A *~ at its end means the keys of an object:

  {"hits": {"hits": [{"_id": "..."}]}}           --field hits.hits._id
  {"payload": {"after": "{\"_id\": ...}"}}       --field payload.after._id
  {"orders": {"6592008029c8c3e4dc76256c": {}}}   --field 'orders.*~'
  {"rows": [["6592008029c8c3e4dc76256c", 1]]}    --field 'rows.*.0'

If no document has an id in the field, the command says which fields of the first 1,000
documents have ids, and with which flag to read them.

The exit code is 0 if ids were judged, or if there were no documents. It is 1 if no
document has an id in the field, or if something could not be read. After a record that
cannot be read, the command goes on with the next one. --memory limits the memory, approximately; by default it is half of the
memory of the machine or the container. Ids beyond the limit go to a temporary file.`

// censusReportHelp is the help about the report.
const censusReportHelp = `The report of "oid census" shows when the ids were created, which processes created the
most ids, and the findings: what deserves attention, what may have caused it, and what to
do.

A process that is registered in the store is shown with its name. Some drivers write the
host and the pid into their ids: these are shown if the host is this one or is recorded in
the store.

--html writes the report as an HTML page to FILE instead of text. If FILE is -, the page
goes to standard output.

--compare takes two sources and shows how many ids only one of them contains. With --ids
it lists these ids: < marks ids only in the first source, > ids only in the second.`

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
			sources, err := filesOf(args)
			if err != nil {
				return err
			}
			return f.run(cmd, std, sources)
		},
	}
	flags := cmd.Flags()
	f.times.addFlags(cmd)
	f.where.addFlag(cmd)
	flags.StringVar(&f.options.Field, "field", "_id", "read `FIELD`, such as customer.id")
	flags.StringVar(&f.options.Column, "column", "", "read this `COLUMN`")
	flags.StringVar(&f.options.Collection, "collection", "", "read only collection `NAME` of an archive")
	stringForms(census.Formats()).addFlag(cmd, &f.options.Format, "format", "auto", "`FORMAT` of the sources")
	flags.BoolVar(&f.grep, "grep", false, "find ids in any text")
	stringForms(census.Intervals()).addFlag(cmd, &f.by, "by", "auto", "`INTERVAL` of timeline rows")
	flags.IntVar(&f.top, "top", 10, "list the `N` processes with most ids; 0 for all")
	f.asJSON.addFlag(cmd, jsonObject)
	flags.StringVar(&f.html, "html", "", "write an HTML report to `FILE`")
	flags.Var(sizeFlag{&f.options.Memory, leastMemory}, "memory", "use about `SIZE` of memory (default half the machine's)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	flags.BoolVar(&f.compare, "compare", false, "compare the ids of two sources")
	flags.BoolVar(&f.ids, "ids", false, "with --compare, list ids that only one source has")
	return cmd
}

// run reads the sources and writes the report. Its errors are those of wrong use, of the
// output and of the store; unreadable sources make it return errReported.
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
		// Report what was counted so far. A second signal ends the process.
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		c.EndEarly(stopped.Error())
		std.warn("%v: the report is partial", stopped)
		ctx = context.WithoutCancel(ctx)
	case stopped != nil:
		return stopped
	}
	t, err := f.where.openTracer(ctx)
	if err != nil {
		std.warn("processes are shown without names: %v", err)
	}
	options.Name = t.namer(ctx, std)
	options.Deploys = func(ids []objectid.ID, from, to time.Time) []census.Event {
		return t.deploys(ctx, std, ids, from, to)
	}
	err = cmp.Or(f.report(std, c, options), t.Close())
	if stopped != nil {
		return stopped
	}
	return err
}

// reportOptions checks the flags about the report, before anything is read.
func (f *censusFlags) reportOptions(args []string) (*census.ReportOptions, error) {
	o := census.ReportOptions{By: f.by, Zone: f.times.zone.location(), Top: cmp.Or(f.top, -1)}
	if f.grep {
		if f.options.Format != census.FormatAuto && f.options.Format != census.FormatGrep {
			return nil, usagef("--grep does not go with --format %s", f.options.Format)
		}
		f.options.Format = census.FormatGrep
	}
	if f.top < 0 {
		return nil, usagef("--top %d: want 0 (all) or more", f.top)
	}
	f.options.Memory = cmp.Or(f.options.Memory, census.MemoryLimit())
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

// leastMemory is the lowest limit that --memory accepts. The blocks of the sources and the
// analysis need that much.
const leastMemory = 100 << 20

// limitMemory tells the garbage collector the limit in bytes, unless the variable GOMEMLIMIT
// does.
func limitMemory(limit int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
