package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/oidkit/oid/cmd/oid/internal/table"
	"github.com/oidkit/oid/internal/phrase"
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
		err = fmt.Errorf("there is no collection %q: %w", collection, noCollections(ctx, s))
	default:
		err = fmt.Errorf("there is no collection %q; the store has the collections %s", collection, table.List(names))
	}
	return withTables(ctx, where.given(), collection, err)
}

// noCollections returns the error for a store without collections. If it is a database of
// MongoDB, the error lists the databases of the server.
func noCollections(ctx context.Context, s store.Store) error {
	err := errors.New("the database has no collections")
	if m, ok := s.(*mongostore.Store); ok {
		if databases, err2 := m.Databases(ctx); err2 == nil {
			err = fmt.Errorf("%w; the server has the databases %s", err, table.List(databases))
		}
	}
	return err
}

// foreign adds to an error that wraps [store.ErrForeign] how the tables of the database can be
// read. name is perhaps the name of one of them.
func foreign(ctx context.Context, url, name string, err error) error {
	if !errors.Is(err, store.ErrForeign) {
		return err
	}
	return withTables(ctx, url, name, err)
}

// withTables adds to err how the ids of a table are read, and how rows are selected by time.
func withTables(ctx context.Context, url, name string, err error) error {
	db, openErr := table.Open(ctx, url)
	if openErr != nil {
		return err
	}
	defer db.Close()
	if len(db.Tables) == 0 {
		return err
	}
	t := db.Tables[0]
	if found := db.Named(name); found != nil {
		t = found[0]
	}
	err = fmt.Errorf("%w; the database has the tables %s, which are no store of oid; for the ids of one write oid census %s",
		err, table.List(db.Tables), phrase.Argument(nameOf(url)+"#"+t.String()))
	if column, columnErr := db.Column(ctx, t, ""); columnErr == nil {
		language, name := db.Condition(column)
		err = fmt.Errorf("%w, for the condition of a query oid range --since 7d --for %s --column %s", err, language, phrase.Argument(name))
	}
	return err
}
