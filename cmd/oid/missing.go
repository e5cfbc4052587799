package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oidkit/oid/cmd/oid/internal/table"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

// usingCollection opens the store to read a collection, calls work, and closes the store. If work
// found no documents, the collection must exist.
func (f *storeFlag) usingCollection(ctx context.Context, collection string, work func(store.Store) (found bool, err error)) error {
	err := using(ctx, f.openToRead, func(s store.Store) error {
		found, err := work(s)
		if !found && (err == nil || err == errReported) {
			err = cmp.Or(missing(ctx, f, s, collection), err)
		}
		return err
	})
	return foreign(ctx, f.given(), collection, err)
}

// missing returns nil if s has the collection, and otherwise an error with the names of the
// collections that it has. If they cannot be listed, the error says that nobody can tell.
func missing(ctx context.Context, where *storeFlag, s store.Store, collection string) error {
	list := s.Collections
	if m, ok := s.(*mongostore.Store); ok {
		list = m.Readable
	}
	names, err := list(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("whether there is a collection %q cannot be told: %w", collection, err)
	case slices.Contains(names, collection):
		return nil
	case len(names) == 0:
		err = fmt.Errorf("there is no collection %q: the store has no collections", collection)
	default:
		err = fmt.Errorf("there is no collection %q; the store has the collections %s", collection, table.List(names))
	}
	return withTables(ctx, where.given(), collection, err)
}

// foreign adds to an error that wraps [store.ErrForeign] how the tables of the database can be
// read. name is perhaps the name of one of them.
func foreign(ctx context.Context, url, name string, err error) error {
	if !errors.Is(err, store.ErrForeign) {
		return err
	}
	return withTables(ctx, url, name, err)
}

func withTables(ctx context.Context, url, name string, err error) error {
	if !table.IsURL(url) {
		return err
	}
	db, openErr := table.Open(ctx, url)
	if openErr != nil {
		return err
	}
	defer db.Close()
	tables, listErr := db.Tables(ctx)
	if listErr != nil || len(tables) == 0 {
		return err
	}
	t := tables[0]
	if found := table.Named(tables, name); found != nil {
		t = found[0]
	}
	err = fmt.Errorf("%w\nthe database has the tables %s, which are no store of oid", err, table.List(tables))
	if column, columnErr := db.Column(ctx, t, ""); columnErr == nil {
		from := db.ForSQL(t.Name)
		client := "sqlite3 " + shellWord(strings.TrimPrefix(url, "sqlite:"))
		if t.Schema != "" {
			from, client = db.ForSQL(t.Schema)+"."+from, "psql "+shellWord(nameOf(url))+" -c"
		}
		language, name := db.Condition(column)
		if strings.Contains(name, `"`) {
			name = shellWord(name)
		}
		err = fmt.Errorf("%w; to query one:\n  %s \"SELECT * FROM %s WHERE $(oid range --since 7d --for %s --column %s)\"", err, client, strings.ReplaceAll(from, `"`, `\"`), language, name)
	}
	return fmt.Errorf("%w\nto analyse the ids of one:\n  oid census %s", err, shellWord(nameOf(url)+"#"+t.String()))
}

// inOneLine shortens an error of missing or foreign for a report: to its first line and its last
// command.
func inOneLine(err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) == 1 {
		return err
	}
	return fmt.Errorf("%s; for a table write %s", lines[0], strings.TrimSpace(lines[len(lines)-1]))
}
