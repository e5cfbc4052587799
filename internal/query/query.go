// Package query writes ranges of ids as conditions of query languages, ready to paste.
//
// [Languages] has all of them. Package timerange makes the ranges from times.
package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// Language is a query language in which a range of ids can be written.
type Language struct {
	Name  string // in lower case
	About string // what it is for, in a few words
	parts
}

// parts are the parts of a condition in one language. In them <id> is replaced by a bound,
// <column> for the column, <process> for the process value, in upper case for <PROCESS>,
// and <n> for the number of its digits.
type parts struct {
	open, end     string // around the conditions
	single        bool   // one condition alone is written without them
	id, idEnd     string // around the bounds
	from, to      string
	none          string // in place of a bound that the range does not have
	process       string // empty if the language cannot ask for it
	separator     string // between conditions
	unconditional string // in place of all, without any condition
}

// Languages are all languages.
var Languages = []Language{
	{"ids", "the two bounds, one per line; - stands for a missing bound", parts{
		from: "<id>", to: "<id>", none: "-", separator: "\n",
	}},
	{"mongosh", "a query for the MongoDB shell and for Compass", parts{
		open: "{ ", end: " }", id: "_id: { ", idEnd: " }", from: `$gte: ObjectId("<id>")`, to: `$lt: ObjectId("<id>")`,
		process:   `$expr: { $eq: [ { $substrBytes: [ { $toString: "$_id" }, 8, <n> ] }, "<process>" ] }`,
		separator: ", ", unconditional: "{}",
	}},
	{"json", "a query in Extended JSON, for mongoexport --query", parts{
		open: "{", end: "}", id: `"_id":{`, idEnd: "}", from: `"$gte":{"$oid":"<id>"}`, to: `"$lt":{"$oid":"<id>"}`,
		process:   `"$expr":{"$eq":[{"$substrBytes":[{"$toString":"$_id"},8,<n>]},"<process>"]}`,
		separator: ",", unconditional: "{}",
	}},
	{"sql", "a condition on a binary column, for SQLite and MySQL", parts{
		from: "<column> >= X'<id>'", to: "<column> < X'<id>'", process: "substr(hex(<column>), 9, <n>) = '<PROCESS>'",
		separator: " AND ", unconditional: "1 = 1",
	}},
	{"sqltext", "a condition on a column of 24 lower-case hexadecimal digits", parts{
		from: "<column> >= '<id>'", to: "<column> < '<id>'", process: "substr(<column>, 9, <n>) = '<process>'",
		separator: " AND ", unconditional: "1 = 1",
	}},
	{"postgres", "a condition on a BYTEA column of PostgreSQL", parts{
		from: `<column> >= '\x<id>'`, to: `<column> < '\x<id>'`, process: "substr(encode(<column>, 'hex'), 9, <n>) = '<process>'",
		separator: " AND ", unconditional: "1 = 1",
	}},
	{"go", "an objectid.Range", parts{
		open: "objectid.Range{", end: "}", from: `From: objectid.MustParse("<id>")`, to: `To: objectid.MustParse("<id>")`,
		separator: ", ", unconditional: "objectid.Range{}",
	}},
	{"python", "a query for pymongo", parts{
		open: "{", end: "}", id: `"_id": {`, idEnd: "}", from: `"$gte": ObjectId("<id>")`, to: `"$lt": ObjectId("<id>")`,
		process:   `"$expr": {"$eq": [{"$substrBytes": [{"$toString": "$_id"}, 8, <n>]}, "<process>"]}`,
		separator: ", ", unconditional: "{}",
	}},
	{"node", "a query for the MongoDB driver of Node", parts{
		open: "{ ", end: " }", id: "_id: { ", idEnd: " }", from: `$gte: new ObjectId("<id>")`, to: `$lt: new ObjectId("<id>")`,
		process:   `$expr: { $eq: [ { $substrBytes: [ { $toString: "$_id" }, 8, <n> ] }, "<process>" ] }`,
		separator: ", ", unconditional: "{}",
	}},
	{"java", "a filter for the MongoDB driver of Java", parts{
		open: "Filters.and(", end: ")", single: true, from: `Filters.gte("_id", new ObjectId("<id>"))`, to: `Filters.lt("_id", new ObjectId("<id>"))`,
		process:   `Filters.expr(Document.parse("{ $eq: [ { $substrBytes: [ { $toString: '$_id' }, 8, <n> ] }, '<process>' ] }"))`,
		separator: ", ", unconditional: "new Document()",
	}},
}

// ByProcess reports whether Write can ask for a process value.
func (l Language) ByProcess() bool { return l.process != "" }

// Write writes r as a condition on a field or column. Only the languages of SQL use column,
// which they write as given. Unless process is empty, the condition is also that the ids
// have this process value, 8 or 10 lower-case hexadecimal digits; languages without ByProcess
// ignore it.
func (l Language) Write(r objectid.Range, column, process string) string {
	var bounds []string
	for _, end := range []struct {
		bound objectid.ID
		text  string
	}{{r.From, l.from}, {r.To, l.to}} {
		if end.bound.IsZero() {
			end.text = l.none
		}
		if end.text != "" {
			bounds = append(bounds, strings.ReplaceAll(end.text, "<id>", end.bound.String()))
		}
	}
	all, conditions := bounds, len(bounds)
	if bounds != nil {
		all = []string{l.id + strings.Join(bounds, l.separator) + l.idEnd}
	}
	if process != "" && l.ByProcess() {
		all = append(all, l.process)
		conditions++
	}
	text := strings.Join(all, l.separator)
	switch {
	case conditions == 0:
		text = l.unconditional
	case conditions > 1 || !l.single:
		text = l.open + text + l.end
	}
	return strings.NewReplacer("<column>", column, "<n>", strconv.Itoa(len(process)),
		"<process>", process, "<PROCESS>", strings.ToUpper(process)).Replace(text)
}

// Mongosh returns r as a query for the MongoDB shell and for Compass:
//
//	{ _id: { $gte: ObjectId("..."), $lt: ObjectId("...") } }
//
// It has only the bounds that r has, and is {} if r has none.
func Mongosh(r objectid.Range) string { return Languages[1].Write(r, "", "") }

// ParseProcess reads a process value, or a process block, that a user gives: 10 or 8
// hexadecimal digits of either case, as between the time and the counter of an id. It
// returns them in lower case, as Write takes them, and an empty text as it is.
func ParseProcess(text string) (string, error) {
	process := strings.ToLower(strings.TrimSpace(text))
	if digits := strings.Trim(process, "0123456789abcdef"); process != "" && (digits != "" || len(process) != 8 && len(process) != 10) {
		return "", fmt.Errorf("process value %q: want 10 hexadecimal digits, as between the time and the counter of an id, or the 8 of a process block", text)
	}
	return process, nil
}
