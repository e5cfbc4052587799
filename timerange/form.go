package timerange

import (
	"fmt"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// Form is a language that a range of ids can be written in.
type Form struct {
	Name  string // what it is called, in lower case
	About string // what it is for, in a few words
	// Write writes r as a condition on the field or column, which only the forms
	// of SQL name; they write it as it is given.
	Write func(r objectid.Range, column string) string
}

// Forms are the languages.
var Forms = []Form{
	{"ids", "the two bounds, one per line; - where there is none", func(r objectid.Range, _ string) string { return bound(r.From) + "\n" + bound(r.To) }},
	{"mongosh", "a query for the MongoDB shell and for Compass", func(r objectid.Range, _ string) string { return r.Mongosh() }},
	{"json", "the same in Extended JSON, for mongoexport --query", func(r objectid.Range, _ string) string { return r.ExtendedJSON() }},
	{"sql", "a condition on a binary column, for SQLite and MySQL", func(r objectid.Range, c string) string { return sql(r, c, "X'%s'") }},
	{"sqltext", "the same for a column of 24 lower-case digits", func(r objectid.Range, c string) string { return sql(r, c, "'%s'") }},
	{"postgres", "the same for a BYTEA column of PostgreSQL", func(r objectid.Range, c string) string { return sql(r, c, `'\x%s'`) }},
	{"go", "an objectid.Range", func(r objectid.Range, _ string) string { return r.GoString() }},
}

// bound writes one end of a range.
func bound(id objectid.ID) string {
	if id.IsZero() {
		return "-"
	}
	return id.String()
}

// sql writes r as a condition on column, with its bounds as literals made by the
// format literal.
func sql(r objectid.Range, column, literal string) string {
	var terms []string
	if !r.From.IsZero() {
		terms = append(terms, fmt.Sprintf("%s >= "+literal, column, r.From))
	}
	if !r.To.IsZero() {
		terms = append(terms, fmt.Sprintf("%s < "+literal, column, r.To))
	}
	if terms == nil {
		return "1 = 1"
	}
	return strings.Join(terms, " AND ")
}
