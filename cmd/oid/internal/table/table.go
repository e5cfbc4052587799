// Package table reads the values of one column of a table, for a census. The table may be in
// any database for which there is a dialect.
//
// Start with [Open]. [Database.Named] finds a table by the name that a user gave,
// [Database.Column] chooses the column, and [Database.Read] reads it.
package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/oidkit/oid/internal/causes"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/pattern"
)

// Database is a database of which tables are read. No method changes the database.
type Database struct {
	// Tables are those that can be read, without those of the system and of stores of oid.
	Tables []Table

	*dialect
	db *sql.DB
}

// Open connects to the database that uri names, and lists its tables. The error is about the
// server, the file or the URL, and contains no password.
func Open(ctx context.Context, uri string) (*Database, error) {
	d := dialectOf(uri)
	if d == nil {
		return nil, errors.New("tables of this kind of database cannot be read")
	}
	db, at, err := d.open(uri)
	if err != nil {
		return nil, err
	}
	tables, err := query(ctx, db, func(rows *sql.Rows) (t Table, err error) {
		err = rows.Scan(&t.schema, &t.name, &t.isVisible)
		return t, err
	}, d.tables)
	if err == nil {
		return &Database{tables, d, db}, nil
	}
	_ = db.Close() // it was only read
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	text := causes.Of(err)
	if strings.Contains(text, "readonly database") || strings.Contains(text, "unable to open database file") {
		text += "; if it is in WAL mode, its folder must be writable: copy the file, and the one with its name and -wal, to one"
	}
	return nil, fmt.Errorf("%s at %s: %s", d.name, at, text)
}

// Close closes the connections.
func (d *Database) Close() error { return d.db.Close() }

// Table is a table, a view, or anything else from which rows can be selected.
type Table struct {
	schema    string // empty if the database has no schemas
	name      string
	isVisible bool // whether the name alone finds it
}

// String returns the name with the schema.
func (t Table) String() string {
	if t.schema == "" {
		return t.name
	}
	return t.schema + "." + t.name
}

// Condition returns the flags of "oid range" with which it prints a condition on the column.
func (d *Database) Condition(c Column) (language, column string) {
	if language = d.language; !c.isBinary {
		language = "sqltext"
	}
	return language, d.quoted(c.Name)
}

// quoted returns names, each as an identifier in quotes, with dots between them. Empty names are left out.
func (d *dialect) quoted(names ...string) string {
	var all []string
	for _, name := range names {
		if name != "" {
			all = append(all, d.quote+strings.ReplaceAll(name, d.quote, d.quote+d.quote)+d.quote)
		}
	}
	return strings.Join(all, ".")
}

// Named returns the tables that name may mean: a table, perhaps after its schema and a dot. Quotes
// do not matter. If no table has the name, the case of letters does not matter either.
func (d *Database) Named(name string) (found []Table) {
	unquoted := strings.NewReplacer(`"`, "", "`", "").Replace
	for _, same := range equals {
		for _, t := range d.Tables {
			is := func(form string) bool { return same(unquoted(form), unquoted(name)) }
			if t.isVisible && is(t.name) || is(t.String()) {
				found = append(found, t)
			}
		}
		if found != nil {
			break
		}
	}
	return found
}

// equals are the ways to compare names: if none is equal, the case of letters does not matter.
var equals = []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold}

// plannedRows is the estimated number of rows in the plan of a query.
var plannedRows = pattern.Of(`rows\w*"?[=:] ?(\d+)`)

// Estimate returns the approximate number of rows of t, or -1 if nothing is known without
// counting them.
func (d *Database) Estimate(ctx context.Context, t Table) int64 {
	var plan sql.NullString
	if d.db.QueryRowContext(ctx, fmt.Sprintf(d.estimate, d.quoted(t.schema, t.name))).Scan(&plan) != nil {
		return -1
	}
	n := int64(-1)
	if rows := plannedRows.Get().FindStringSubmatch(plan.String); rows != nil {
		n, _ = strconv.ParseInt(rows[1], 10, 64)
	}
	return n
}

// Read writes a BSON document for every row of t to w, each with one call of Write. Its _id is the
// value of the column; if that is NULL or an empty text, the document is empty. One query reads
// all rows, in a transaction that only reads.
func (d *Database) Read(ctx context.Context, t Table, c Column, w io.Writer) error {
	doc := []byte("\x16\x00\x00\x00\x07_id\x00............\x00") // the document with an ObjectId
	return d.rows(ctx, t, c, "", func(v value) error {
		id, isID := v.id()
		if isID {
			copy(doc[9:], id[:])
			_, err := w.Write(doc)
			return err
		}
		other, err := v.document(c)
		if err == nil {
			_, err = w.Write(other)
		}
		return err
	})
}

// rows calls each with the values of a column, which are valid until each returns. limit may end
// the query.
func (d *Database) rows(ctx context.Context, t Table, c Column, limit string, each func(value) error) (err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("read column %s of table %s: %w", c.Name, t, err)
		}
	}()
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	rows, err := tx.QueryContext(ctx, "SELECT "+d.quoted(c.Name)+" FROM "+d.quoted(t.schema, t.name)+limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	isText := !d.loose && !slices.Contains(binaryTypes, types[0].DatabaseTypeName())
	var v value
	for rows.Next() {
		v = value{}
		if err := rows.Scan(&v); err != nil {
			return err
		}
		v.isText = v.isText || isText
		if err := each(v); err != nil {
			return err
		}
	}
	return rows.Err()
}

// query returns what scan makes of each row of a query.
func query[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), text string, args ...any) (all []T, err error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// maxListed is how many names an error lists.
const maxListed = 20

// List returns names for a sentence, or the first of them and the number of the others.
func List[T any](names []T) string {
	all := each.Of(names, func(name T) string { return fmt.Sprint(name) })
	if more := len(all) - maxListed; more > 0 {
		all = append(all[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}
