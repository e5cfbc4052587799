package main

import (
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
	return err == nil && string(head) == "SQLite format 3\x00"
}

// databaseParts returns the part for a name in a database. The name is that of a table or, if there
// is no such table, of a collection of the store in the database. If the name is empty, the
// database must have only one table or collection, and that is returned.
func (r *censusReader) databaseParts(ctx context.Context, p part, url, name string) ([]part, error) {
	if err := r.checkLive(p.name); err != nil {
		return nil, err
	}
	db, err := table.Open(ctx, url)
	if err == nil {
		r.databases = append(r.databases, db)
	} else {
		db = &table.Database{}
	}
	switch found := db.Named(name); len(found) {
	case 0:
	case 1:
		return r.tablePart(ctx, p, db, found[0])
	default:
		return nil, usagef("%q is the name of several tables; write one of %s after #", name, table.List(found))
	}
	var names []string // of collections, and then also of tables
	// Of a store in a folder that is read-only, the tables cannot be listed.
	if e := storeEngineOf(url); e != nil && (err == nil || e.oneHost) {
		where := &storeFlag{url: url}
		s, storeErr := where.openToRead(ctx)
		if storeErr == nil {
			r.databases = append(r.databases, s)
			names, err = s.Collections(ctx)
			if slices.Contains(names, name) {
				return []part{r.collectionPart(ctx, p, where, s, "", name)}, nil
			}
		} else if !errors.Is(storeErr, store.ErrForeign) {
			err = cmp.Or(err, storeErr)
		}
	}
	names = append(each.Of(db.Tables, table.Table.String), names...)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, errors.New("the database has no tables")
	case name != "":
		return nil, fmt.Errorf("there is no table or collection %q; the database has %s", name, table.List(names))
	case len(names) > 1:
		return nil, usagef("%s has %s; choose one, as in oid census %s", nameOf(url), table.List(names), phrase.Argument(nameOf(url)+"#"+names[0]))
	}
	p.name += "#" + names[0]
	return r.databaseParts(ctx, p, url, names[0])
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
