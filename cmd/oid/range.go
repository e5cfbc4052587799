package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // for hosts without a database of zones

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/causes"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/query"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

// rangeFormsHelp returns the table of the forms for the help of --for, and the names of the
// forms that can and cannot select a process value.
func rangeFormsHelp() (table string, can, cannot []string) {
	for _, f := range query.Languages {
		table += fmt.Sprintf("  %-9s %s\n", f.Name, f.About)
		if f.ByProcess() {
			can = append(can, f.Name)
		} else {
			cannot = append(cannot, f.Name)
		}
	}
	return table, can, cannot
}

func newRangeCommand(std streams) *cobra.Command {
	var (
		times   timeRange
		form    query.Language
		column  string
		process string
		asJSON  jsonFlag
	)
	table, can, cannot := rangeFormsHelp()
	cmd := &cobra.Command{
		Use:   "range {--since D | --from TIME | --to TIME | --process VALUE}",
		Short: "Turn a time range into bounds for _id",
		Long: `Write a time range as bounds for _id, ready to paste into a query. An id was created in
the range if it is equal to or greater than the first bound and less than the second.

--for chooses the form of the output:
` + table + `
--process selects only the ids with one process value, which "oid inspect" and "oid ps"
show, or with one process block. The database cannot use an index for this: it reads
every id in the time range. The forms ` + strings.Join(cannot, " and ") + ` do not support --process.`,
		Example: `  oid range --since 24h
  oid range --from 2026-11-01 --to 2026-12-01 --for mongosh
  oid range --since 1h --process bcf86cd799 --for mongosh
  mongoexport -c orders --query "$(oid range --since 7d --for json)"`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bool(asJSON) && cmd.Flags().Changed("for") {
				return usagef("--json and --for exclude each other: give one of them")
			}
			process, err := query.ParseProcess(process)
			if err != nil {
				return usageError{fmt.Errorf("--process: %w", err)}
			}
			if !times.given() && process == "" {
				return usagef("no time range: give --since, --from or --to, or --process")
			}
			r, err := times.parse()
			if err != nil {
				return err
			}
			if process != "" && !form.ByProcess() && !bool(asJSON) {
				return usagef("a query with --for %s cannot select a process value; use --for %s", form.Name, strings.Join(can, ", "))
			}
			return asJSON.emit(std.out, pure.Range(r, column, process), textf("%s\n", form.Write(r, column, process)))
		},
	}
	times.addFlags(cmd)
	formsOf(query.Languages, func(f query.Language) string { return f.Name }).addFlag(cmd, &form, "for", "ids", "`FORM` of the output")
	cmd.Flags().StringVar(&column, "column", "_id", "name of the SQL column, copied unchanged")
	cmd.Flags().StringVar(&process, "process", "", "only ids with this process `VALUE`: 10 hexadecimal digits, or the 8 of a process block")
	asJSON.addFlag(cmd, "write one JSON object with both bounds, their times and all forms")
	return cmd
}

// timeRange has the flags --since, --from, --to and --tz of commands with a time range.
type timeRange struct {
	since, from, to string
	zone            zone
	strings         bool // whether ids that are stored as strings are meant
}

// rangeHelp is the paragraph of "oid help times" about these flags.
var rangeHelp = `--since takes a duration up to now (24h, 7d, 2 months) or a TIME. --from and --to each
take a TIME; ids created at --to or later are left out. Ids contain whole seconds, so
--from is rounded down and --to is rounded up. No id of the range is left out by that.`

// timeHelp is the paragraph about a TIME.
var timeHelp = timerange.Help("the zone of --tz or TZ, or UTC")

func (r *timeRange) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.since, "since", "", "start of the range: 24h, 7d or a `TIME`, see \"oid help times\"")
	f.StringVar(&r.from, "from", "", "start of the range, a `TIME`")
	f.StringVar(&r.to, "to", "", "end of the range, a `TIME`, not included")
	r.zone.addFlag(cmd)
}

// given reports whether any of the flags was used.
func (r *timeRange) given() bool { return r.span() != timerange.Span{} }

func (r *timeRange) span() timerange.Span {
	return timerange.Span{Since: r.since, From: r.from, To: r.to}
}

// parse returns the range that the flags describe, or all ids without flags. Its errors are
// usage errors.
func (r *timeRange) parse() (objectid.Range, error) {
	ids, err := r.span().Range(r.zone.now())
	return ids, ofFlag(err)
}

// keys returns the range of keys in a store that the flags describe. Without flags that is
// every key; with a flag it is only ObjectIds or, with --strings, only strings.
func (r *timeRange) keys() (store.Range, error) {
	switch ids, err := r.parse(); {
	case r.strings && !r.given():
		return store.Range{}, usagef("--strings needs a time range; give --since, --from or --to")
	case !r.given():
		return store.Range{}, nil
	case r.strings:
		return textRange(ids), err
	default:
		return store.IDRange(ids), err
	}
}

// leftOut says on stderr how many documents the flags leave out because their _id has another
// type, so that an empty list is not taken for an empty collection.
func (r *timeRange) leftOut(ctx context.Context, std streams, s store.Store, collection string) {
	if !r.given() {
		return
	}
	n, err := r.others(ctx, s, collection)
	if n == 0 && err == nil || ctx.Err() != nil {
		return
	}
	why := "their _id is no ObjectId and has no time"
	if r.strings {
		why = "their _id is an ObjectId"
	}
	for _, failed := range onlyIDs(s.Find(ctx, collection, store.Query{Range: textRange(objectid.Range{}), Limit: stringsTried}), 1) {
		if !r.strings && failed == nil {
			why = "their _id is no ObjectId; \"oid find --strings\" selects ids that are stored as strings"
		}
	}
	switch documents := phrase.Count(n, "document is", "documents are"); {
	case err != nil:
		std.warn("some documents may be left out because %s; they could not be counted: %s", why, causes.Of(err))
	case n == maxOthers:
		std.warn("at least %s left out: %s", documents, why)
	default:
		std.warn("%s left out: %s", documents, why)
	}
}

const (
	// maxOthers is how many documents that a time range leaves out are counted in MongoDB, and
	// countTime how long a database may take to count them.
	maxOthers = 100_000
	countTime = time.Second

	// stringsTried is how many strings are tried to find one that is an id.
	stringsTried = 100
)

// others returns the number of documents whose _id has another type than the flags select.
func (r *timeRange) others(ctx context.Context, s store.Store, collection string) (int64, error) {
	ctx, stop := context.WithTimeout(ctx, countTime)
	defer stop()
	if r.strings {
		return s.Count(ctx, collection, store.IDRange(objectid.Range{}))
	}
	if m, ok := s.(*mongostore.Store); ok {
		return m.CountOthers(ctx, collection, maxOthers)
	}
	return s.Count(ctx, collection, store.Range{To: store.IDKey(objectid.ID{})})
}

// textRange returns a range of keys that contains the strings of 24 hexadecimal digits, in lower
// case, of the ids in r. It also contains other strings; onlyIDs leaves them out.
func textRange(r objectid.Range) store.Range {
	from, _ := store.StringKey(r.From.String()) // digits are UTF-8
	to, _ := store.StringKey(r.To.String())
	if r.To.IsZero() {
		to, _ = store.StringKey("g") // after all digits
	}
	return store.Range{From: from, To: to}
}

// onlyIDs returns the documents in docs whose _id is a string of 24 hexadecimal digits, at most limit
// if it is above 0.
func onlyIDs(docs iter.Seq2[bson.Raw, error], limit int) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		n := 0
		for doc, err := range docs {
			text, _ := doc.Lookup("_id").StringValueOK()
			if _, bad := objectid.Parse(text); bad != nil && err == nil {
				continue
			}
			if n++; !yield(doc, err) || n == limit {
				return
			}
		}
	}
}

// ofFlag turns an error of package timerange into a usage error that names the flag.
func ofFlag(err error) error {
	if field, ok := errors.AsType[*timerange.FieldError](err); ok {
		err = fmt.Errorf("--%w", field)
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// zone is the flag --tz: the time zone in which a command prints times and reads times that
// name no zone. By default it is the zone of the environment variable TZ, or else UTC. Times
// in JSON are in UTC, except in the report of a census.
type zone struct{ chosen *time.Location }

// zoneHelp is the paragraph of "oid help times" about the flag.
const zoneHelp = `Times are printed in the zone of --tz. Without --tz it is the zone of the environment
variable TZ, or else UTC. Times in JSON are in UTC, except in the report of a census. A
ZONE is a name such as Asia/Shanghai, an offset such as +08:00, or local.`

func (z *zone) addFlag(cmd *cobra.Command) {
	cmd.Flags().Func("tz", "time `ZONE` such as Asia/Shanghai (default TZ, or UTC)", z.set)
}

// set reads the name of a zone or an offset from UTC.
func (z *zone) set(name string) error {
	if strings.EqualFold(name, "local") {
		z.chosen = time.Local
		return nil
	}
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		z.chosen = time.FixedZone(name, offset)
		return nil
	}
	l, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return errors.New("no such time zone; want the name of a zone such as Europe/Berlin, an offset such as +08:00, or local")
	}
	z.chosen = l
	return nil
}

func (z *zone) location() *time.Location {
	switch {
	case z.chosen != nil:
		return z.chosen
	case os.Getenv("TZ") != "":
		return time.Local
	}
	return time.UTC
}

// now returns the current time in the zone.
func (z *zone) now() time.Time { return time.Now().In(z.location()) }

// text formats a time in the zone.
func (z *zone) text(t time.Time) string { return t.In(z.location()).Format(time.RFC3339Nano) }
