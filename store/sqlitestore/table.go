package sqlitestore

import (
	"context"
	"database/sql"
	"strings"
)

// table returns the name of the table of a collection, in quotes.
func table(collection string) string {
	return `"` + strings.ReplaceAll(encode(collection), `"`, `""`) + `"`
}

// encode returns the name of the table of a collection. Names in SQLite are case-insensitive
// and may not begin with sqlite_, so ^ is put before each upper-case letter, and ^0 before
// sqlite_.
func encode(collection string) string {
	var b strings.Builder
	if strings.HasPrefix(collection, "sqlite_") {
		b.WriteString("^0")
	}
	for i := range len(collection) {
		c := collection[i]
		if c == '^' || c >= 'A' && c <= 'Z' {
			b.WriteByte('^')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// decode returns the collection with the table name; ok is false if the table is not a
// collection.
func decode(name string) (collection string, ok bool) {
	var b strings.Builder
	escaped := strings.TrimPrefix(name, "^0")
	for i := 0; i < len(escaped); i++ {
		if escaped[i] == '^' && i+1 < len(escaped) {
			i++
		}
		b.WriteByte(escaped[i])
	}
	return b.String(), encode(b.String()) == name
}

// Collections implements [engine.Database].
func (s *database) Collections(ctx context.Context) (names []string, err error) {
	q := query{text: "SELECT name FROM sqlite_schema WHERE type = 'table'", long: true}
	err = s.rows(ctx, q, func(rows *sql.Rows) (bool, error) {
		var name string
		if err := rows.Scan(&name); err != nil {
			return false, err
		}
		if collection, ok := decode(name); ok {
			names = append(names, collection)
		}
		return true, nil
	})
	return names, err
}
