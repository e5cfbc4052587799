package table

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// Column is a column of a table.
type Column struct {
	Name string
	Type string // as the database names it
	key  bool   // whether it is the primary key, alone

	isBinary bool // whether ids were found as 12 bytes
}

// String returns the name and the type.
func (c Column) String() string { return strings.TrimSpace(c.Name + " " + c.Type) }

// Identifies reports whether each value should occur only once: the column is the primary key,
// or has the name of one.
func (c Column) Identifies() bool { return c.rank() < other }

// rank returns a number that is lower for columns that usually have ids.
func (c Column) rank() int {
	switch name := strings.ToLower(c.Name); {
	case name == "_id":
		return 0
	case c.key:
		return 1
	case name == "id":
		return 2
	}
	return other
}

const other = 3 // the rank of columns without such a name

// otherTypes are parts of the names of types whose values are never ids.
var otherTypes = []string{"int", "serial", "float", "double", "real", "numeric", "decimal", "money", "bool", "date", "time", "year", "bit"}

// mayHoldIDs reports whether values of the type may be ids.
func (c Column) mayHoldIDs() bool {
	return !slices.ContainsFunc(otherTypes, func(part string) bool { return strings.Contains(strings.ToLower(c.Type), part) })
}

// sampled is how many rows of a column Column reads to see whether it has ids.
const sampled = 100

// Column returns the column of t with the name, or chooses one if name is empty. It chooses the
// first of these whose first rows have ids:
//
//   - the column _id, the primary key if it is one column, and the column id
//   - the only other column whose first rows have ids
//
// If none has ids, it chooses the first of _id, primary key and id whose type may hold ids.
// Otherwise, or if several other columns have ids, Column returns an error.
func (d *Database) Column(ctx context.Context, t Table, name string) (none Column, _ error) {
	all, err := query(ctx, d.db, func(rows *sql.Rows) (c Column, err error) {
		err = rows.Scan(&c.Name, &c.Type, &c.key)
		return c, err
	}, d.columns, t.schema, t.name)
	if err != nil {
		return none, fmt.Errorf("list the columns of table %s: %w", t, err)
	}
	if name != "" {
		for _, same := range equals {
			if i := slices.IndexFunc(all, func(c Column) bool { return same(c.Name, name) }); i >= 0 {
				return all[i], nil
			}
		}
		return none, fmt.Errorf("table %s has no column %q; it has %s", t, name, List(all))
	}
	candidates := slices.DeleteFunc(slices.Clone(all), func(c Column) bool { return !c.mayHoldIDs() })
	slices.SortStableFunc(candidates, func(a, b Column) int { return cmp.Compare(a.rank(), b.rank()) })
	var others []Column
	var failed error // a column that may not be read is not chosen
	for _, c := range candidates {
		has, err := d.hasIDs(ctx, t, &c)
		if c.Identifies() && (has || err != nil) {
			return c, err
		}
		if failed = cmp.Or(failed, err); has {
			others = append(others, c)
		}
	}
	switch {
	case len(others) == 1:
		return others[0], nil
	case len(others) > 1:
		return none, fmt.Errorf("table %s has ids in several columns: %s; choose one with --column NAME", t, List(others))
	case len(candidates) > 0 && candidates[0].Identifies():
		return candidates[0], nil
	case failed != nil:
		return none, failed
	}
	return none, fmt.Errorf("table %s has no ids in the first %d rows of any column, and no column _id, id or primary key that could hold ids; it has the columns %s; choose one with --column NAME", t, sampled, List(all))
}

// hasIDs reports whether the first rows of t have an id in the column. It sets c.isBinary.
func (d *Database) hasIDs(ctx context.Context, t Table, c *Column) (has bool, err error) {
	err = d.rows(ctx, t, *c, fmt.Sprintf(" LIMIT %d", sampled), func(v value) error {
		if _, isID := v.id(); isID {
			has, c.isBinary = true, len(v.bytes) == objectid.Size
		}
		return nil
	})
	return has, err
}
