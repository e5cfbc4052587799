package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

// nameOf returns the name of a source for the report. URLs lose their passwords.
func nameOf(arg string) string {
	if arg == "-" {
		return "standard input"
	}
	if e := storeEngineOf(arg); e != nil && !e.oneHost {
		if u, err := url.Parse(arg); err == nil {
			return u.Redacted()
		}
		scheme, _, _ := strings.Cut(arg, ":")
		return "the collection of " + scheme + "://..."
	}
	return arg
}

// storeParts returns a part for a collection of a store or, if collection is empty, one for
// each collection of the database. p has the fields that all parts have in common.
func (r *censusReader) storeParts(ctx context.Context, where *storeFlag, p part, database, collection string) (parts []part, err error) {
	whole := database != "" && collection == ""
	if err := store.CheckCollection(collection); err != nil && !whole {
		return nil, usageError{err}
	}
	s, err := where.openToRead(ctx)
	if err != nil {
		return nil, err
	}
	r.stores = append(r.stores, s)
	names := []string{collection}
	if whole {
		if names, err = s.Collections(ctx); err == nil && len(names) == 0 {
			err = fmt.Errorf("the database %s has no collections", database)
		}
	}
	for _, name := range names {
		if whole {
			p.collection = database + "." + name
		}
		if m, ok := s.(*mongostore.Store); ok {
			p.documents = m.Estimate(ctx, name)
		}
		p.open = func(ctx context.Context) (io.ReadCloser, error) {
			return piped(func(w io.Writer) error { return r.find(ctx, s, name, w) }), nil
		}
		parts = append(parts, p)
	}
	return parts, err
}

// find writes the documents of a collection to w. MongoDB returns only the field that is
// counted; other stores return whole documents.
func (r *censusReader) find(ctx context.Context, s store.Store, collection string, w io.Writer) error {
	var q store.Query
	if r.options.Field == "_id" && r.options.Range != (objectid.Range{}) {
		q.Range = store.IDRange(r.options.Range)
	}
	docs := s.Find(ctx, collection, q)
	if m, ok := s.(*mongostore.Store); ok {
		docs = m.FindField(ctx, collection, r.options.Field, q)
	}
	n := int64(0)
	for doc, err := range docs {
		if err != nil {
			return err
		}
		if _, err := w.Write(doc); err != nil {
			return err
		}
		if n++; n%countedTogether == 0 {
			r.progress.count(countedTogether)
		}
	}
	return nil
}

// countedTogether is how many documents are read between two updates of the progress.
const countedTogether = 1000

// splitNamespace splits mongodb://HOST/DATABASE.COLLECTION into the URL of a store, the
// database and the collection. The collection is empty in mongodb://HOST/DATABASE.
func splitNamespace(arg string) (uri, database, collection string, err error) {
	base, query, hasQuery := strings.Cut(arg, "?")
	scheme, rest, _ := strings.Cut(base, "://")
	hosts, namespace, _ := strings.Cut(rest, "/")
	namespace, err = url.PathUnescape(namespace)
	database, collection, found := strings.Cut(namespace, ".")
	if err != nil || database == "" || hosts == "" || found && collection == "" {
		return "", "", "", usagef("source %s has no database; write mongodb://HOST/DATABASE.COLLECTION, or mongodb://HOST/DATABASE for all its collections", nameOf(arg))
	}
	uri = scheme + "://" + hosts + "/" + url.PathEscape(database)
	if hasQuery {
		uri += "?" + query
	}
	return uri, database, collection, nil
}
