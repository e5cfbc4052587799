package objectid

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
)

// Range is the ids from From, included, to To, not included. A zero From is no
// lower bound, and a zero To is no upper bound: the zero Range is every id. A
// range whose To is set and not greater than its From holds nothing.
//
// A range of ids is a range of times only as far as the ids tell the truth: see
// [Generator.Ahead], and mind that other makers' clocks may be wrong.
type Range struct{ From, To ID }

// At returns the smallest ID of the second that t lies in: twelve bytes with
// only the time filled in. It is a bound to compare with, not an id to store.
// Before 1970 and after 2106-02-07T06:28:15Z it is that of the nearest second
// that an ID can hold; for the first second of 1970 it is the zero ID.
func At(t time.Time) ID { return atSecond(second(t)) }

func atSecond(s uint64) (id ID) {
	binary.BigEndian.PutUint32(id[:], uint32(s))
	return id
}

// Between returns the range that holds every ID made at t1 or later and before
// t2. Ids know whole seconds only, so t1 is rounded down and t2 up; two calls
// with t1, t2 and t2, t3 therefore share no ID if t2 is a whole second. If t2
// does not lie after t1, the range holds nothing.
func Between(t1, t2 time.Time) Range {
	if !t1.Before(t2) {
		end := atSecond(max(second(t1), 1)) // a zero To would be no bound
		return Range{From: end, To: end}
	}
	return Range{From: At(t1), To: Until(t2).To}
}

// Since returns the range that holds every ID made at t or later, without an
// upper bound.
func Since(t time.Time) Range { return Range{From: At(t)} }

// Until returns the range that holds every ID made before t, without a lower
// bound. Times that no ID can hold count as the nearest second that one can: the
// range always holds the first second of 1970, and if t lies after the last
// second of 2106 it holds every ID.
func Until(t time.Time) Range {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	if s > math.MaxUint32 {
		return Range{}
	}
	return Range{To: atSecond(uint64(max(s, 1)))} // a zero To would be no bound
}

// Contains reports whether id lies in r.
func (r Range) Contains(id ID) bool {
	return id.Compare(r.From) >= 0 && (r.To.IsZero() || id.Compare(r.To) < 0)
}

// IsEmpty reports whether no ID lies in r.
func (r Range) IsEmpty() bool { return !r.To.IsZero() && r.From.Compare(r.To) >= 0 }

// Filter returns r as a query for the MongoDB driver, which takes it as it is:
//
//	coll.Find(ctx, r.Filter())
//
// It is {"_id": {"$gte": From, "$lt": To}} without the bounds that r lacks, and
// {} if it lacks both. For a field of another name, take the member "_id" of it.
func (r Range) Filter() map[string]any {
	bounds := map[string]any{}
	if !r.From.IsZero() {
		bounds["$gte"] = r.From
	}
	if !r.To.IsZero() {
		bounds["$lt"] = r.To
	}
	if len(bounds) == 0 {
		return bounds
	}
	return map[string]any{"_id": bounds}
}

// SQL returns r as a condition on a column of raw bytes (BLOB, BYTEA) and the
// condition's arguments, two at most:
//
//	id >= ? AND id < ?
//
// The column is written as it is given; quote it if it needs quotes. first is 0
// for placeholders written ?, as SQLite and MySQL have them, or the number of
// the first placeholder for PostgreSQL's, which are written $1, $2. The
// condition is "1 = 1" without arguments if r has no bounds. For a text column
// use [Range.SQLHex].
func (r Range) SQL(column string, first int) (where string, args []any) {
	return r.sql(column, first, func(id ID) any { return id })
}

// SQLHex is [Range.SQL] for a text column: its arguments are the 24 digits.
func (r Range) SQLHex(column string, first int) (where string, args []any) {
	return r.sql(column, first, func(id ID) any { return Hex{id} })
}

func (r Range) sql(column string, first int, arg func(ID) any) (where string, args []any) {
	var terms []string
	add := func(operator string, bound ID) {
		if bound.IsZero() {
			return
		}
		placeholder := "?"
		if first > 0 {
			placeholder = fmt.Sprintf("$%d", first+len(args))
		}
		terms = append(terms, column+" "+operator+" "+placeholder)
		args = append(args, arg(bound))
	}
	add(">=", r.From)
	add("<", r.To)
	if terms == nil {
		return "1 = 1", nil
	}
	return strings.Join(terms, " AND "), args
}

// Mongosh returns r as a query to paste into the MongoDB shell or into Compass:
//
//	{ _id: { $gte: ObjectId("..."), $lt: ObjectId("...") } }
//
// It lacks the bounds that r lacks, and is {} if r lacks both.
func (r Range) Mongosh() string {
	return r.query("{ _id: { ", "%s: %#v", ", ", " } }")
}

// ExtendedJSON returns r as a query in MongoDB's Extended JSON, which
// mongoexport and mongodump read after --query:
//
//	{"_id":{"$gte":{"$oid":"..."},"$lt":{"$oid":"..."}}}
//
// It lacks the bounds that r lacks, and is {} if r lacks both.
func (r Range) ExtendedJSON() string {
	return r.query(`{"_id":{`, `"%s":{"$oid":"%s"}`, ",", "}}")
}

// GoString returns r as a Go expression, as %#v prints it.
func (r Range) GoString() string {
	var fields []string
	for _, f := range []struct {
		name string
		id   ID
	}{{"From", r.From}, {"To", r.To}} {
		if !f.id.IsZero() {
			fields = append(fields, fmt.Sprintf(`%s: objectid.MustParse("%s")`, f.name, f.id))
		}
	}
	return "objectid.Range{" + strings.Join(fields, ", ") + "}"
}

// query writes the bounds that r has, each by the format bound, which takes the
// operator and the id, between open and end.
func (r Range) query(open, bound, separator, end string) string {
	var bounds []string
	if !r.From.IsZero() {
		bounds = append(bounds, fmt.Sprintf(bound, "$gte", r.From))
	}
	if !r.To.IsZero() {
		bounds = append(bounds, fmt.Sprintf(bound, "$lt", r.To))
	}
	if bounds == nil {
		return "{}"
	}
	return open + strings.Join(bounds, separator) + end
}
