// Package pure makes the answers that need neither a registry nor a server, as values of
// package server/wire: for the server, for the static page and for --json of the command.
// Most functions are named after the type that they return.
package pure

import (
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/query"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// TimedID returns id with its creation time.
func TimedID(id objectid.ID) wire.TimedID { return wire.TimedID{ID: id, Time: id.Time()} }

// Range returns r and queries for its ids. column is the name of the column in SQL queries.
// If process is not empty, the queries match only ids with this process value or block.
func Range(r objectid.Range, column, process string) wire.Range {
	out := wire.Range{From: bound(r.From), To: bound(r.To), Queries: []wire.Query{}}
	for _, f := range query.Languages {
		if process == "" || f.ByProcess() {
			out.Queries = append(out.Queries, wire.Query{For: f.Name, About: f.About, Text: f.Write(r, column, process)})
		}
	}
	return out
}

func bound(id objectid.ID) *wire.TimedID {
	if id.IsZero() {
		return nil
	}
	return new(TimedID(id))
}

// Inspection converts r.
func Inspection(r inspect.Report) wire.Inspection {
	return wire.Inspection{ID: r.ID, Time: r.Time, Readings: each.Of(r.Readings, func(reading inspect.Reading) wire.Reading {
		return wire.Reading{
			Format: string(reading.Format), Variant: reading.Variant, Verdict: string(reading.Verdict), Reason: reading.Reason, Time: reading.Time,
			Fields: each.Of(reading.Fields, func(f inspect.Field) wire.Field { return wire.Field(f) }),
		}
	})}
}
