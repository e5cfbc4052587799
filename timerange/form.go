package timerange

import (
	"strings"

	"github.com/oidkit/oid/objectid"
)

// Form is a language in which a range of ids can be written.
type Form struct {
	Name  string // in lower case
	About string // what it is for, in a few words
	// Write writes r as a condition on a field or column. Only the forms of SQL
	// use column, which they write as given.
	Write func(r objectid.Range, column string) string
}

// Forms are all languages.
var Forms = []Form{
	{"ids", "the two bounds, one per line; - where there is none", func(r objectid.Range, _ string) string { return bound(r.From) + "\n" + bound(r.To) }},
	{"mongosh", "a query for the MongoDB shell and for Compass", func(r objectid.Range, _ string) string { return Mongosh(r) }},
	{"json", "the same in Extended JSON, for mongoexport --query", func(r objectid.Range, _ string) string { return ExtendedJSON(r) }},
	{"sql", "a condition on a binary column, for SQLite and MySQL", sql("X'", "'")},
	{"sqltext", "the same for a column of 24 lower-case digits", sql("'", "'")},
	{"postgres", "the same for a BYTEA column of PostgreSQL", sql(`'\x`, "'")},
	{"go", "an objectid.Range", func(r objectid.Range, _ string) string {
		const id, end = ` objectid.MustParse("`, `")`
		return "objectid.Range{" + bounds(r, "From:"+id, "To:"+id, end, ", ") + "}"
	}},
	{"python", "a query for pymongo", query(`{"_id": {`, `"$gte": ObjectId("`, `"$lt": ObjectId("`, "}}")},
	{"node", "a query for the MongoDB driver of Node", query("{ _id: { ", `$gte: new ObjectId("`, `$lt: new ObjectId("`, " } }")},
	{"java", "a filter for the MongoDB driver of Java", func(r objectid.Range, _ string) string {
		const id, end = `("_id", new ObjectId("`, `"))`
		switch text := bounds(r, "Filters.gte"+id, "Filters.lt"+id, end, ", "); {
		case r == (objectid.Range{}):
			return "new Document()"
		case r.From.IsZero() || r.To.IsZero():
			return text
		default:
			return "Filters.and(" + text + ")"
		}
	}},
}

// query returns a function that writes a range as a query in the syntax of a language,
// {} without bounds.
func query(open, from, to, end string) func(objectid.Range, string) string {
	return func(r objectid.Range, _ string) string {
		if r == (objectid.Range{}) {
			return "{}"
		}
		return open + bounds(r, from, to, `")`, ", ") + end
	}
}

// Mongosh returns r as a query for the MongoDB shell and for Compass:
//
//	{ _id: { $gte: ObjectId("..."), $lt: ObjectId("...") } }
//
// It has only the bounds that r has, and is {} if r has none.
func Mongosh(r objectid.Range) string {
	return query("{ _id: { ", `$gte: ObjectId("`, `$lt: ObjectId("`, " } }")(r, "")
}

// ExtendedJSON returns r as a query in MongoDB's Extended JSON, which mongoexport
// and mongodump read after --query:
//
//	{"_id":{"$gte":{"$oid":"..."},"$lt":{"$oid":"..."}}}
//
// It has only the bounds that r has, and is {} if r has none.
func ExtendedJSON(r objectid.Range) string {
	if r == (objectid.Range{}) {
		return "{}"
	}
	return `{"_id":{` + bounds(r, `"$gte":{"$oid":"`, `"$lt":{"$oid":"`, `"}`, ",") + "}}"
}

// sql returns a function that writes a range as a condition with literals that begin
// and end as given.
func sql(begin, end string) func(objectid.Range, string) string {
	return func(r objectid.Range, column string) string {
		if r == (objectid.Range{}) {
			return "1 = 1"
		}
		return bounds(r, column+" >= "+begin, column+" < "+begin, end, " AND ")
	}
}

// bounds writes the bounds that r has, From after from and To after to.
func bounds(r objectid.Range, from, to, end, separator string) string {
	var out []string
	if !r.From.IsZero() {
		out = append(out, from+r.From.String()+end)
	}
	if !r.To.IsZero() {
		out = append(out, to+r.To.String()+end)
	}
	return strings.Join(out, separator)
}

// bound writes one end of a range.
func bound(id objectid.ID) string {
	if id.IsZero() {
		return "-"
	}
	return id.String()
}
