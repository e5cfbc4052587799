package objectid

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
)

// Range is the ids from From, included, to To, not included. A zero From means no
// lower bound, and a zero To no upper bound: the zero Range contains every id. A
// range whose To is set and not greater than its From is empty.
//
// A range of ids is a range of creation times as far as the clocks of the
// processes were right; see also [Generator.Lead].
type Range struct{ From, To ID }

// MinAt returns the smallest ID of the second of t: twelve bytes with only the time
// filled in. It is a bound to compare with, not an id to store. A t before 1970 or
// after 2106-02-07T06:28:15Z counts as the nearest second that fits in an ID; for
// the first second of 1970 the bound is the zero ID.
func MinAt(t time.Time) ID { return atSecond(second(t)) }

func atSecond(s uint64) (id ID) {
	binary.BigEndian.PutUint32(id[:], uint32(s))
	return id
}

// Between returns the range of every ID created at t1 or later and before t2. Ids
// carry whole seconds only, so t1 is rounded down and t2 up; the ranges of t1, t2
// and t2, t3 have no ID in common if t2 is a whole second. If t2 is not after t1,
// the range is empty.
func Between(t1, t2 time.Time) Range {
	if !t1.Before(t2) {
		end := atSecond(max(second(t1), 1)) // a zero To would mean no bound
		return Range{From: end, To: end}
	}
	return Range{From: MinAt(t1), To: Until(t2).To}
}

// Since returns the range of every ID created at t or later, without an upper
// bound.
func Since(t time.Time) Range { return Range{From: MinAt(t)} }

// Until returns the range of every ID created before t, without a lower bound. A
// time that does not fit in an ID counts as the nearest second that does: the
// range always contains the first second of 1970, and every ID if t is after
// 2106-02-07T06:28:15Z.
func Until(t time.Time) Range {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	if s > math.MaxUint32 {
		return Range{}
	}
	return Range{To: atSecond(uint64(max(s, 1)))} // a zero To would mean no bound
}

// Contains reports whether id is in r.
func (r Range) Contains(id ID) bool {
	return id.Compare(r.From) >= 0 && (r.To.IsZero() || id.Compare(r.To) < 0)
}

// IsEmpty reports whether r contains no ID.
func (r Range) IsEmpty() bool { return !r.To.IsZero() && r.From.Compare(r.To) >= 0 }

// Filter returns r as a query for the MongoDB driver:
//
//	coll.Find(ctx, r.Filter())
//
// The query is {"_id": {"$gte": From, "$lt": To}} without the bounds that r does
// not have, and {} if it has neither. For another field, use the query's member
// "_id".
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
// The column is written as given; quote it if it needs quotes. first is 0 for the
// placeholder ? of SQLite and MySQL, or the number of the first placeholder for
// those of PostgreSQL, $1, $2. The condition is "1 = 1" without arguments if r has
// no bounds. For a text column use [Range.SQLHex].
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
