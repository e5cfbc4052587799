// Package pure makes the answers that need neither a registry nor a server, as values of
// package server/wire: for the server, for the static page and for --json of the command.
// Most functions are named after the type that they return.
package pure

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/query"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// ErrValue matches the errors about a value that somebody has entered. Users see their texts.
var ErrValue = errors.New("a value of the request cannot be used")

type marked struct {
	error
	as error
}

func (e marked) Unwrap() []error { return []error{e.error, e.as} }

// As returns err, which is not nil, as an error that also matches as. Its text is that of err.
func As(err, as error) error { return marked{err, as} }

// Wrong returns err, which is not nil, as an error about a value.
func Wrong(err error) error { return As(err, ErrValue) }

// Wrongf returns an error about a value.
func Wrongf(format string, args ...any) error { return Wrong(fmt.Errorf(format, args...)) }

// TimedID returns id with its creation time.
func TimedID(id objectid.ID) wire.TimedID { return wire.TimedID{ID: id, Time: id.Time()} }

// Zone returns the time zone with a name. The empty name means UTC. For an unknown name it
// returns UTC and an error.
func Zone(name string) (*time.Location, error) {
	l, err := loadZone(name)
	if err != nil || strings.EqualFold(name, "local") {
		return time.UTC, Wrongf("time zone %q: unknown; want a name such as Europe/Berlin", name)
	}
	return l, nil
}

// TimeRange returns the range of the ids of a time range, with queries for them. Times without
// a zone are in the zone with the name zone. If process is not empty, the queries match only
// ids with this process value or block. column is the name of the column in SQL queries.
func TimeRange(span timerange.Span, column, process, zone string, now time.Time) (wire.Range, error) {
	l, err := Zone(zone)
	if err != nil {
		return wire.Range{}, err
	}
	r, err := span.Range(now.In(l))
	if err != nil {
		return wire.Range{}, Wrong(err)
	}
	if process, err = query.ParseProcess(process); err != nil {
		return wire.Range{}, Wrong(err)
	}
	return Range(r, column, process), nil
}

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
