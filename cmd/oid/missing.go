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
			err = cmp.Or(missing(ctx, s, collection), err)
		}
		return err
	})
	return f.withTables(ctx, collection, err)
}

var errMissing = errors.New("there is no collection")

// missing returns nil if s has the collection, and otherwise an error with the names of the
// collections that it has. If they cannot be listed, the error says that nobody can tell.
func missing(ctx context.Context, s store.Store, collection string) error {
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
		return fmt.Errorf("%w %q: %w", errMissing, collection, noCollections(ctx, s))
	}
	return fmt.Errorf("%w %q; the store has the collections %s", errMissing, collection, table.List(names))
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

// withTables returns err, the error of a store. If the collection does not exist, or if the
// database is not a store, withTables adds the commands that read the ids of its tables and that
// select rows by time. name may be the name of one of the tables.
func (f *storeFlag) withTables(ctx context.Context, name string, err error) error {
	if !errors.Is(err, store.ErrForeign) && !errors.Is(err, errMissing) {
		return err
	}
	url := f.given()
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
