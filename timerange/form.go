package timerange

import (
	"fmt"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// Form is a language in which a range of ids can be written.
type Form struct {
	Name  string // in lower case
	About string // what it is for, in a few words
	// ByProcess reports whether Write can ask for a process value.
	ByProcess bool
	// Write writes r as a condition on a field or column. Only the forms of SQL
	// use column, which they write as given. Unless process is empty, the condition
	// is also that the ids have this process value, 8 or 10 lower-case hexadecimal
	// digits; forms without ByProcess ignore it.
	Write func(r objectid.Range, column, process string) string
}

// Forms are all languages.
var Forms = []Form{
	{"ids", "the two bounds, one per line; - where there is none", false, func(r objectid.Range, _, _ string) string {
		return bound(r.From) + "\n" + bound(r.To)
	}},
	{"mongosh", "a query for the MongoDB shell and for Compass", true, shell.write},
	{"json", "the same in Extended JSON, for mongoexport --query", true, extended.write},
	{"sql", "a condition on a binary column, for SQLite and MySQL", true, func(r objectid.Range, column, process string) string {
		return sql(r, column, "X'", "hex("+column+")", strings.ToUpper(process))
	}},
	{"sqltext", "the same for a column of 24 lower-case digits", true, func(r objectid.Range, column, process string) string {
		return sql(r, column, "'", column, process)
	}},
	{"postgres", "the same for a BYTEA column of PostgreSQL", true, func(r objectid.Range, column, process string) string {
		return sql(r, column, `'\x`, "encode("+column+", 'hex')", process)
	}},
	{"go", "an objectid.Range", false, func(r objectid.Range, _, _ string) string {
		const id = ` objectid.MustParse("`
		return "objectid.Range{" + strings.Join(bounds(r, "From:"+id, "To:"+id, `")`), ", ") + "}"
	}},
	{"python", "a query for pymongo", true, python.write},
	{"node", "a query for the MongoDB driver of Node", true, node.write},
	{"java", "a filter for the MongoDB driver of Java", true, java},
}

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

// Mongosh returns r as a query for the MongoDB shell and for Compass:
//
//	{ _id: { $gte: ObjectId("..."), $lt: ObjectId("...") } }
//
// It has only the bounds that r has, and is {} if r has none.
func Mongosh(r objectid.Range) string { return shell.write(r, "", "") }

// ExtendedJSON returns r as a query in MongoDB's Extended JSON, which mongoexport
// and mongodump read after --query:
//
//	{"_id":{"$gte":{"$oid":"..."},"$lt":{"$oid":"..."}}}
//
// It has only the bounds that r has, and is {} if r has none.
func ExtendedJSON(r objectid.Range) string { return extended.write(r, "", "") }

// query is how a language writes a query for MongoDB.
type query struct {
	open, end     string // around it
	id, idEnd     string // around the bounds
	from, to, oid string // before each bound, and after it
	process       string // format with the number of digits and the process value
	separator     string
}

var (
	shell = query{
		"{ ", " }", "_id: { ", " }", `$gte: ObjectId("`, `$lt: ObjectId("`, `")`,
		`$expr: { $eq: [ { $substrBytes: [ { $toString: "$_id" }, 8, %d ] }, "%s" ] }`, ", ",
	}
	extended = query{
		"{", "}", `"_id":{`, "}", `"$gte":{"$oid":"`, `"$lt":{"$oid":"`, `"}`,
		`"$expr":{"$eq":[{"$substrBytes":[{"$toString":"$_id"},8,%d]},"%s"]}`, ",",
	}
	python = query{
		"{", "}", `"_id": {`, "}", `"$gte": ObjectId("`, `"$lt": ObjectId("`, `")`,
		`"$expr": {"$eq": [{"$substrBytes": [{"$toString": "$_id"}, 8, %d]}, "%s"]}`, ", ",
	}
	node = query{
		shell.open, shell.end, shell.id, shell.idEnd, `$gte: new ObjectId("`, `$lt: new ObjectId("`, shell.oid,
		shell.process, shell.separator,
	}
)

func (q query) write(r objectid.Range, _, process string) string {
	var all []string
	if r != (objectid.Range{}) {
		all = append(all, q.id+strings.Join(bounds(r, q.from, q.to, q.oid), q.separator)+q.idEnd)
	}
	if process != "" {
		all = append(all, fmt.Sprintf(q.process, len(process), process))
	}
	if all == nil {
		return "{}"
	}
	return q.open + strings.Join(all, q.separator) + q.end
}

func java(r objectid.Range, _, process string) string {
	const id = `("_id", new ObjectId("`
	all := bounds(r, "Filters.gte"+id, "Filters.lt"+id, `"))`)
	if process != "" {
		all = append(all, fmt.Sprintf(`Filters.expr(Document.parse("{ $eq: [ { $substrBytes: [ { $toString: '$_id' }, 8, %d ] }, '%s' ] }"))`, len(process), process))
	}
	switch len(all) {
	case 0:
		return "new Document()"
	case 1:
		return all[0]
	}
	return "Filters.and(" + strings.Join(all, ", ") + ")"
}

// sql writes a condition with literals that begin as given. digits is an expression
// for those of the id, in the case of process.
func sql(r objectid.Range, column, literal, digits, process string) string {
	all := bounds(r, column+" >= "+literal, column+" < "+literal, "'")
	if process != "" {
		all = append(all, fmt.Sprintf("substr(%s, 9, %d) = '%s'", digits, len(process), process))
	}
	if all == nil {
		return "1 = 1"
	}
	return strings.Join(all, " AND ")
}

// bounds writes the bounds that r has, From after from and To after to.
func bounds(r objectid.Range, from, to, end string) (out []string) {
	if !r.From.IsZero() {
		out = append(out, from+r.From.String()+end)
	}
	if !r.To.IsZero() {
		out = append(out, to+r.To.String()+end)
	}
	return out
}

// bound writes one end of a range.
func bound(id objectid.ID) string {
	if id.IsZero() {
		return "-"
	}
	return id.String()
}
