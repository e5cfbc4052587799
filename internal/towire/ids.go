package towire

import (
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/timerange"
)

// TimedID returns id with its creation time.
func TimedID(id objectid.ID) wire.TimedID { return wire.TimedID{ID: id, Time: id.Time()} }

// Range returns r with its queries for an SQL column of the given name. Unless process
// is empty, they are for the ids with this process value.
func Range(r objectid.Range, column, process string) wire.Range {
	out := wire.Range{From: bound(r.From), To: bound(r.To), Queries: []wire.Query{}}
	for _, f := range timerange.Forms {
		if process == "" || f.ByProcess {
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

// Inspection returns what r says.
func Inspection(r inspect.Report) wire.Inspection {
	return wire.Inspection{ID: r.ID, Time: r.Time, Readings: each(r.Readings, func(reading inspect.Reading) wire.Reading {
		return wire.Reading{
			Format: string(reading.Format), Variant: reading.Variant, Verdict: string(reading.Verdict), Reason: reading.Reason, Time: reading.Time,
			Fields: each(reading.Fields, func(f inspect.Field) wire.Field { return wire.Field(f) }),
		}
	})}
}
