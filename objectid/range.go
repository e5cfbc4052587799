package objectid

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
)

// Range contains the ids from From (included) to To (excluded). A zero From or To means no
// bound: the zero Range contains every id.
type Range struct{ From, To ID }

// MinAt returns the smallest ID with the second of t, or with the nearest second that an ID can
// hold: a bound to compare with, not an id to store. For 1970-01-01T00:00:00Z and earlier it
// is the zero ID.
func MinAt(t time.Time) ID { return atSecond(second(t)) }

func atSecond(s uint64) (id ID) {
	binary.BigEndian.PutUint32(id[:], uint32(s))
	return id
}

// Between returns the range of the ids created at t1 or later and before t2. It rounds t1
// down to a second and t2 up. The range is empty if t2 is not after t1.
func Between(t1, t2 time.Time) Range {
	if !t1.Before(t2) {
		end := atSecond(max(second(t1), 1)) // a zero To would mean no bound
		return Range{From: end, To: end}
	}
	return Range{From: MinAt(t1), To: Until(t2).To}
}

// Since returns the range of the ids created at t or later. It rounds t down to a second.
func Since(t time.Time) Range { return Range{From: MinAt(t)} }

// Until returns the range of the ids created before t. It rounds t up to a second, at the
// earliest 1970-01-01T00:00:01Z.
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

// Filter returns r as a query for the MongoDB driver: {"_id": {"$gte": From, "$lt": To}}. A
// missing bound is left out; the zero Range gives an empty map.
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

// SQL returns r as a condition on a column of raw bytes, such as "id >= ? AND id < ?", and its
// arguments. It does not quote column. If first is 0, placeholders are ?. If it is 3,
// they are PostgreSQL's $3 and $4.
func (r Range) SQL(column string, first int) (where string, args []any) {
	return r.sql(column, first, func(id ID) any { return id })
}

// SQLHex is [Range.SQL] for a text column of lower-case digits.
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
