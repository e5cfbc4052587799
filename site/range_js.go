package main

import (
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/timerange"
)

// rangeOf returns the ids of a time range and the queries for them. Without both ends
// it is that of the last 24 hours.
func rangeOf(from, to, column string) object {
	span := timerange.Span{From: from, To: to}
	if from == "" && to == "" {
		span.Since = "24h"
	}
	if column == "" {
		column = "_id"
	}
	r, err := span.Range(time.Now().UTC())
	if err != nil {
		return failed(err)
	}
	queries := []any{}
	for _, f := range timerange.Forms {
		queries = append(queries, object{"for": f.Name, "about": f.About, "text": f.Write(r, column)})
	}
	return object{"from": bound(r.From), "to": bound(r.To), "queries": queries}
}

func bound(id objectid.ID) any {
	if id.IsZero() {
		return nil
	}
	return object{"id": id.String(), "time": id.Time().Format(time.RFC3339)}
}
