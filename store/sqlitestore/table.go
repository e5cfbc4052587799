package sqlitestore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// table returns the name of the table of a collection, in quotes. SQLite's names
// know no upper and lower case and may not begin with sqlite_.
func table(collection string) string {
	return `"` + strings.ReplaceAll(encode(collection), `"`, `""`) + `"`
}

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

// decode returns the collection that encode made the name of; ok is false for
// tables that are not collections.
func decode(name string) (collection string, ok bool) {
	if strings.HasPrefix(name, "sqlite_") { // SQLite's own
		return "", false
	}
	name = strings.TrimPrefix(name, "^0")
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '^' {
			i++
			if i == len(name) || name[i] != '^' && (name[i] < 'A' || name[i] > 'Z') {
				return "", false
			}
		}
		b.WriteByte(name[i])
	}
	return b.String(), true
}

// Collections returns the names of the collections, see [store.Store].
func (s *Store) Collections(ctx context.Context) ([]string, error) {
	if err := s.life.Err(ctx); err != nil {
		return nil, err
	}
	var names []string
	q := query{text: "SELECT name FROM sqlite_schema WHERE type = 'table'", long: true}
	err := s.rows(ctx, q, func(rows *sql.Rows) (bool, error) {
		var name string
		if err := rows.Scan(&name); err != nil {
			return false, err
		}
		if collection, ok := decode(name); ok {
			names = append(names, collection)
		}
		return true, nil
	})
	slices.Sort(names)
	return names, s.explain(ctx, err)
}

// inCollection runs work if the collection exists, and reports whether it does.
// Another process may have dropped it since it was seen.
func (s *Store) inCollection(ctx context.Context, collection string, work func() error) (found bool, err error) {
	if found, err = s.exists(ctx, collection); err != nil || !found {
		return false, err
	}
	if err = work(); code(err) != sqlite3.SQLITE_ERROR {
		return true, err
	}
	s.tables.Delete(collection)
	if again, failed := s.exists(ctx, collection); failed == nil && !again {
		return false, nil
	}
	return true, err
}

// exists reports whether the collection has a table. It is asked before reading
// because a table that is missing has no error code of its own.
func (s *Store) exists(ctx context.Context, collection string) (bool, error) {
	if err := s.life.Check(ctx, collection); err != nil {
		return false, err
	}
	if _, ok := s.tables.Load(collection); ok {
		return true, nil
	}
	var one int
	q := query{text: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", args: []any{encode(collection)}}
	found, err := s.row(ctx, q, &one)
	if err != nil || !found {
		return false, s.explain(ctx, err)
	}
	s.tables.Store(collection, true)
	return true, nil
}
