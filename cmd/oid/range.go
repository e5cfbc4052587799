package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/timerange"
)

// rangeForms are the values of --for: each writes a range ready to paste.
var rangeForms = func() (named forms[timerange.Form]) {
	for _, f := range timerange.Forms {
		named = append(named, form[timerange.Form]{f.Name, f})
	}
	return named
}()

func newRangeCommand(std streams) *cobra.Command {
	var (
		times  timeRange
		form   string
		column string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "range {--since D | --from TIME | --to TIME}",
		Short: "Turn a stretch of time into bounds for _id",
		Long: `Write the ids that bound a stretch of time, ready to paste. An id of the stretch
is equal to or greater than the first bound and smaller than the second.

--for chooses what to write:
  ids       the two bounds, one per line; - where there is none
  mongosh   a query for the MongoDB shell and for Compass
  json      the same in Extended JSON, for mongoexport --query
  sql       a condition on a binary column, for SQLite and MySQL
  postgres  the same for a BYTEA column of PostgreSQL
  sqltext   a condition on a column of 24 lower-case digits
  go        an objectid.Range

` + rangeHelp,
		Example: `  oid range --since 24h
  oid range --from 2026-11-01 --to 2026-12-01 --for mongosh
  mongoexport -c orders --query "$(oid range --since 7d --for json)"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON && cmd.Flags().Changed("for") {
				return usagef("--json and --for both say what to write: give one of them")
			}
			if !times.given() {
				return usagef("which stretch of time? Give --since, --from or --to")
			}
			r, err := times.parse(time.Now())
			if err != nil {
				return err
			}
			language, err := rangeForms.find("--for", form)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(std.out).Encode(newRangeJSON(r))
			}
			_, err = fmt.Fprintln(std.out, language.Write(r, column))
			return err
		},
	}
	times.addFlags(cmd)
	cmd.Flags().StringVar(&form, "for", "ids", "what to write: "+rangeForms.names())
	cmd.Flags().StringVar(&column, "column", "_id", "name of the SQL column, written as it is given")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object with both bounds and their times")
	rangeForms.complete(cmd, "for")
	return cmd
}

// rangeJSON is what --json writes; a bound that is not there is null.
type rangeJSON struct {
	From *boundJSON `json:"from"`
	To   *boundJSON `json:"to"`
}

type boundJSON struct {
	ID   objectid.ID `json:"id"`
	Time time.Time   `json:"time"`
}

func newRangeJSON(r objectid.Range) rangeJSON {
	end := func(id objectid.ID) *boundJSON {
		if id.IsZero() {
			return nil
		}
		return &boundJSON{id, id.Time()}
	}
	return rangeJSON{end(r.From), end(r.To)}
}
