// Package table reads the values of one column of a table, for a census. The table may be in
// any database for which there is a dialect.
//
// Start with [Open]. [Database.Tables] lists the tables, [Named] finds one of them by the name
// that a user gave, [Database.Column] chooses the column, and [Database.Read] reads it.
package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/oidkit/oid/internal/causes"
	"github.com/oidkit/oid/internal/each"
)

// Database is a database of which tables are read. No method changes the database.
type Database struct {
	*dialect
	url string
	db  *sql.DB
}

// Open connects to the database that url names. The error is about the server, the file or the
// URL, and contains no password.
func Open(ctx context.Context, url string) (*Database, error) {
	d := dialectOf(url)
	if d == nil {
		return nil, errors.New("tables of this kind of database cannot be read")
	}
	db, at, err := d.open(url)
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close() // it was not used
		return nil, d.unreachable(ctx, url, at, err)
	}
	return &Database{d, url, db}, nil
}

// unreachable describes why a database cannot be used. If the server does not have the
// database, the error lists the databases that it has.
func (d *dialect) unreachable(ctx context.Context, url, at string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed := fmt.Errorf("%s at %s: %s", d.name, at, causes.Of(err))
	if strings.Contains(failed.Error(), "readonly database") {
		return fmt.Errorf("%w; it is in WAL mode, which needs a writable folder: copy the file, and the one with its name and -wal, to one", failed)
	}
	if d.unknown == "" || !strings.Contains(failed.Error(), d.unknown) {
		return failed
	}
	other, _, err := d.open(withDatabase(url, d.existing))
	if err != nil {
		return failed
	}
	defer other.Close()
	names, err := query(ctx, other, func(rows *sql.Rows) (name string, err error) {
		err = rows.Scan(&name)
		return name, err
	}, d.databases)
	if err == nil {
		failed = fmt.Errorf("%w; it has the databases %s", failed, List(names))
	}
	return failed
}

// Close closes the connections.
func (d *Database) Close() error { return d.db.Close() }

// Table is a table, a view, or anything else from which rows can be selected.
type Table struct {
	Schema string // empty if the database has no schemas
	Name   string

	// visible is whether the name of the table is enough to find it, without the schema.
	visible bool
	quoted  string // with its schema, for SQL
	quote   byte
}

// String returns the text that [Named] finds.
func (t Table) String() string {
	name := t.Name
	if strings.ContainsAny(name+t.Schema, ".\"`") {
		return t.quoted
	}
	if t.Schema != "" {
		name = t.Schema + "." + name
	}
	return name
}

// reserved are words that SQL reserves and that people nevertheless use as names.
const reserved = " all check column default desc end from group index key limit order primary references select table to user values where "

// ForSQL returns name as people write it in SQL: in quotes only if it needs them.
func (d *Database) ForSQL(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" || strings.Contains(reserved, " "+name+" ") {
		return quoted(name, d.quote)
	}
	return name
}

// Condition returns the flags of "oid range" with which it prints a condition on the column.
func (d *Database) Condition(c Column) (language, column string) {
	if language = d.language; !c.isBinary {
		language = "sqltext"
	}
	return language, d.ForSQL(c.Name)
}

// Tables returns the tables that can be read, without those of the system and of stores of oid.
func (d *Database) Tables(ctx context.Context) (tables []Table, err error) {
	tables, err = query(ctx, d.db, func(rows *sql.Rows) (t Table, err error) {
		err = rows.Scan(&t.Schema, &t.Name, &t.visible)
		return newTable(t.Schema, t.Name, t.visible, d.quote), err
	}, d.tables)
	if err != nil {
		err = fmt.Errorf("list the tables: %w", err)
	}
	return tables, err
}

func newTable(schema, name string, visible bool, quote byte) Table {
	t := Table{Schema: schema, Name: name, visible: visible, quote: quote, quoted: quoted(name, quote)}
	if schema != "" {
		t.quoted = quoted(schema, quote) + "." + t.quoted
	}
	return t
}

// quoted returns name as an identifier in quotes.
func quoted(name string, quote byte) string {
	q := string(quote)
	return q + strings.ReplaceAll(name, q, q+q) + q
}

// Named returns the tables that name may mean: a table, perhaps after its schema and a dot, each
// as it is or in quotes. If no name is written so, the case of letters does not matter.
func Named(tables []Table, name string) (found []Table) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, t := range tables {
			var forms []string
			for _, n := range []string{t.Name, quoted(t.Name, t.quote)} {
				if t.visible {
					forms = append(forms, n)
				}
				forms = append(forms, t.Schema+"."+n, quoted(t.Schema, t.quote)+"."+n)
			}
			if slices.ContainsFunc(forms, func(form string) bool { return same(form, name) }) {
				found = append(found, t)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// Estimate returns the approximate number of rows of t, or -1 if nothing is known without
// counting them.
func (d *Database) Estimate(ctx context.Context, t Table) int64 {
	var text sql.NullString
	if d.db.QueryRowContext(ctx, fmt.Sprintf(d.estimate, t.quoted)).Scan(&text) != nil {
		return -1
	}
	if _, plan, found := strings.Cut(text.String, "rows"); found {
		text.String = strings.TrimLeft(plan, `=": _abcdefghijklmnopqrstuvwxyz`) // rows=7 or "rows_produced": 7
	}
	n := int64(-1)
	_, _ = fmt.Sscan(text.String, &n) // if it fails, n stays -1
	return n
}

// Read writes a BSON document for every row of t to w. Its _id is the value of the column; if that
// is NULL or an empty text, the document is empty. One query reads all rows, in a transaction that only reads.
// After each thousand rows, Read calls counted with their number.
func (d *Database) Read(ctx context.Context, t Table, c Column, w io.Writer, counted func(rows int64)) error {
	doc := []byte("\x16\x00\x00\x00\x07_id\x00............\x00") // the document with an ObjectId
	n := int64(0)
	return d.rows(ctx, t, c, "", func(v value) error {
		if n++; n%countedTogether == 0 {
			counted(countedTogether)
		}
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

const countedTogether = 1000

// rows calls each with the values of a column, which are valid until each returns. limit may end
// the query.
func (d *Database) rows(ctx context.Context, t Table, c Column, limit string, each func(value) error) (err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("read column %s of table %s: %w", c.Name, t, err)
		}
	}()
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	rows, err := tx.QueryContext(ctx, "SELECT "+quoted(c.Name, d.quote)+" FROM "+t.quoted+limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	var raw sql.RawBytes
	var typed any
	target := any(&raw)
	if d.loose {
		target = &typed
	}
	isText := !slices.Contains(binaryTypes, types[0].DatabaseTypeName())
	for rows.Next() {
		if err := rows.Scan(target); err != nil {
			return err
		}
		v := value{bytes: raw, isText: isText}
		if d.loose {
			v = valueOf(typed)
		}
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
