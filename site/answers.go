// Command site is a web page that inspects ids, turns time ranges into queries, and calculates
// the odds of a collision, all in the browser. "make site" builds it for WebAssembly, into a
// folder that any web server can serve.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/odds"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/query"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/objectid"
)

// object is an answer to the page's script. It contains only types that js.ValueOf converts:
// objects, slices, strings and numbers. An answer about an error has only the key error.
type object = map[string]any

func failed(err error) object { return object{"error": phrase.Plain(err.Error())} }

// maxIDs is the largest number of ids of a text that are shown.
const maxIDs = 1000

// inspectText returns the reports on the ids in a text.
func inspectText(text string) object {
	ids, bad := []any{}, []any{}
	more := 0
	var ignored error
	for piece, err := range inspect.Scan(strings.NewReader(text)) {
		var r inspect.Report
		if err == nil {
			r, err = inspect.Inspect(piece.Text, nil)
		}
		switch {
		case errors.Is(err, inspect.ErrNoID): // a line of a log
			ignored = err
		case err != nil:
			bad = append(bad, fmt.Sprintf("line %d: %s", piece.Line, phrase.Plain(err.Error())))
		case len(ids) == maxIDs:
			more++
		default:
			ids = append(ids, idObject(r))
		}
	}
	if len(ids)+len(bad) == 0 && ignored != nil {
		bad = append(bad, phrase.Plain(ignored.Error()))
	}
	return object{"ids": ids, "bad": bad, "more": more}
}

func idObject(r inspect.Report) object {
	readings := []any{}
	for _, reading := range r.Readings {
		fields := []any{}
		for _, f := range reading.Fields {
			number := ""
			if f.Number != nil {
				number = strconv.FormatUint(*f.Number, 10) // JavaScript's numbers are shorter
			}
			fields = append(fields, object{"name": f.Name, "hex": f.Hex, "number": number})
		}
		readings = append(readings, object{
			"name": string(reading.Format), "variant": reading.Variant, "verdict": string(reading.Verdict),
			"reason": reading.Reason, "time": timeText(reading.Time), "fields": fields,
		})
	}
	return object{"id": r.ID, "time": timeText(r.Time), "readings": readings}
}

// timeText writes a time in RFC 3339, or the empty text for nil.
func timeText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// rangeOf returns the bounds of a time range and the queries for it. If both ends are empty,
// the range is the last 24 hours.
func rangeOf(from, to, column string) object {
	span := timerange.Span{From: from, To: to}
	if from == "" && to == "" {
		span.Since = "24h"
	}
	r, err := span.Range(time.Now().UTC())
	if err != nil {
		return failed(err)
	}
	queries := each.Of(query.Languages, func(f query.Language) any {
		return object{"for": f.Name, "about": f.About, "text": f.Write(r, cmp.Or(column, "_id"), "")}
	})
	return object{"from": bound(r.From), "to": bound(r.To), "queries": queries}
}

func bound(id objectid.ID) any {
	if id.IsZero() {
		return nil
	}
	return object{"id": id.String(), "time": id.Time().Format(time.RFC3339)}
}

// oddsOf returns the chances that two processes have the same process value or create the same
// id.
func oddsOf(processes, rate, over, layout string) object {
	q, err := odds.Parse(processes, rate, over, layout)
	if err != nil {
		return failed(err)
	}
	value, id := odds.Of(q)
	return object{"value": odds.Text(value), "id": odds.Text(id)}
}
