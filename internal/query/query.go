// Package query writes a range of ids as a condition of a query language, ready to paste.
//
// Start with [Languages] and [Language.Write]. Package timerange makes ranges from times.
package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// Language is a query language in which a range of ids can be written.
type Language struct {
	Name  string // such as "mongosh", in lower case
	About string // what the text is and where it can be pasted, in a few words
	parts
}

// parts are the parts of a condition in one language. Write replaces these placeholders:
//
//	<id>       the bound
//	<column>   the name of the column
//	<process>  the process value
//	<PROCESS>  the process value in upper case
//	<n>        the number of digits of the process value
type parts struct {
	open, end     string // before and after all conditions
	single        bool   // a single condition is written without open and end
	id, idEnd     string // before and after the bounds
	from, to      string // the conditions of the two bounds
	none          string // replaces a bound that the range does not have
	process       string // the condition on the process value; empty if the language has none
	separator     string // between conditions
	unconditional string // replaces everything if there is no condition
}

// Languages are all query languages that oid writes.
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

// ByProcess reports whether a condition in l can select a process value.
func (l Language) ByProcess() bool { return l.process != "" }

// Write returns r as a condition. For the languages of SQL, column is the name of the column,
// which Write does not quote; the other languages ignore it.
//
// If process is not empty, the condition also demands that the ids have this process value (10
// lower-case hexadecimal digits) or process block (8 of them). Languages for which ByProcess is
// false ignore process.
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
// A bound that r does not have is left out. If r has no bounds, the query is {}.
func Mongosh(r objectid.Range) string { return Languages[1].Write(r, "", "") }

// ParseProcess reads a process value that a user typed, 10 hexadecimal digits of either case,
// or a process block, the first 8 of these digits. It returns the digits in lower case, as Write
// takes them. The empty text is allowed, and stays empty.
func ParseProcess(text string) (string, error) {
	process := strings.ToLower(strings.TrimSpace(text))
	if digits := strings.Trim(process, "0123456789abcdef"); process != "" && (digits != "" || len(process) != 8 && len(process) != 10) {
		return "", fmt.Errorf("process value %q: want the 10 hexadecimal digits from 9 to 18 of an id, or the 8 of a process block", text)
	}
	return process, nil
}
