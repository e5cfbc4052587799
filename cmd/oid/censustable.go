package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/cmd/oid/internal/table"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/store"
)

// splitTable splits a source at its last #: into the URL of a database, and the name of a table or
// a collection.
func splitTable(arg string) (url, name string) {
	if i := strings.LastIndexByte(arg, '#'); i >= 0 {
		return arg[:i], arg[i+1:]
	}
	return arg, ""
}

// isSQLite reports whether a file is a SQLite database.
func isSQLite(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte("SQLite format 3\x00"))
}

// databaseParts returns the part for a name in a database. The name is that of a table, or of a
// collection if the database has a store of oid. If the name is empty, the database must have only
// one table or collection, and that is returned.
func (r *censusReader) databaseParts(ctx context.Context, p part, url, name string) ([]part, error) {
	if err := r.checkLive(p.name); err != nil {
		return nil, err
	}
	db, err := table.Open(ctx, url)
	if err != nil {
		db = &table.Database{}
	} else {
		r.databases = append(r.databases, db)
	}
	// If a table has the name, it does not matter why the store cannot be opened.
	var collections []string
	var s store.Store
	if e := storeEngineOf(url); e != nil && (err == nil || e.oneHost) {
		var storeErr error
		if s, storeErr = (&storeFlag{url: url}).openToRead(ctx); storeErr == nil {
			r.databases = append(r.databases, s)
			collections, storeErr = s.Collections(ctx)
		}
		if e.oneHost && storeErr == nil {
			err = nil // a file is either a store or has tables
		} else if !errors.Is(storeErr, store.ErrForeign) {
			err = cmp.Or(err, storeErr)
		}
	}
	all := append(each.Of(db.Tables, table.Table.String), collections...)
	if name == "" && len(all) == 1 {
		name = all[0]
		p.name += "#" + name
	}
	found, where := db.Named(name), nameOf(url)
	isCollection := slices.Contains(collections, name)
	switch {
	case len(found) > 1:
		return nil, usagef("%q is the name of several tables; write one of %s after #", name, table.List(found))
	case isCollection && len(found) == 1:
		return nil, usagef("%s has a table and a collection of oid called %q; for the table write #%s, for the collection write store:%s and --store", where, name, found[0], name)
	case isCollection:
		return []part{r.collectionPart(ctx, p, &storeFlag{url: url}, s, "", name)}, nil
	case len(found) == 1:
		return r.tablePart(ctx, p, db, found[0])
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, errors.New("the database has no tables")
	case name == "":
		return nil, usagef("%s has %s; choose one, as in oid census %s", where, contents(db.Tables, collections), phrase.Argument(where+"#"+all[0]))
	}
	return nil, fmt.Errorf("there is no table or collection %q; the database has %s", name, contents(db.Tables, collections))
}

// tablePart returns p for a table.
func (r *censusReader) tablePart(ctx context.Context, p part, db *table.Database, t table.Table) ([]part, error) {
	name := r.options.Column
	if r.options.Field != "_id" && name == "" {
		name = r.options.Field
	}
	column, err := db.Column(ctx, t, name)
	if err != nil {
		return nil, err
	}
	p.name += ", column " + column.Name
	p.live = &census.Live{Name: p.name, IsTable: true, Repeats: !column.Identifies()}
	p.documents = db.Estimate(ctx, t)
	p.open = r.live(func(ctx context.Context, w io.Writer) error { return db.Read(ctx, t, column, w) })
	return []part{p}, nil
}

// contents describes what a database contains.
func contents(tables []table.Table, collections []string) string {
	var parts []string
	if len(tables) > 0 {
		parts = append(parts, "the tables "+table.List(tables))
	}
	if len(collections) > 0 {
		parts = append(parts, "the collections "+table.List(collections))
	}
	return strings.Join(parts, " and ")
}
