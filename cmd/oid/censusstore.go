package main

import (
	"context"
	"io"
	"iter"
	"net/url"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/cmd/oid/internal/table"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

// nameOf returns the name of a source for the report. URLs lose their passwords.
func nameOf(arg string) string {
	if arg == "-" {
		return "standard input"
	}
	scheme, _, isURL := strings.Cut(arg, "://")
	if !isURL || storeEngineOf(arg) == nil && !table.IsURL(arg) {
		return arg
	}
	base, end, hasEnd := strings.Cut(arg, "#")
	u, err := url.Parse(base)
	if err != nil || strings.Contains(u.Path+end, "@") { // perhaps a password that contains / or #
		return "the database of " + scheme + "://..."
	}
	query := u.Query()
	for name := range query {
		if strings.Contains(strings.ToLower(name), "password") {
			query.Set(name, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	if hasEnd {
		return u.Redacted() + "#" + end
	}
	return u.Redacted()
}

// storeParts returns a part for a collection of a store or, if collection is empty, one for
// each collection of the database. p has the fields that all parts have in common.
func (r *censusReader) storeParts(ctx context.Context, where *storeFlag, p part, database, collection string) (parts []part, err error) {
	whole := database != "" && collection == ""
	if err := store.CheckCollection(collection); err != nil && !whole {
		return nil, usageError{err}
	}
	if err := r.checkLive(p.name); err != nil {
		return nil, err
	}
	s, err := where.openToRead(ctx)
	if err != nil {
		return nil, where.withTables(ctx, collection, err)
	}
	r.databases = append(r.databases, s)
	if !whole {
		return []part{r.collectionPart(ctx, p, where, s, "", collection)}, nil
	}
	names, err := s.Collections(ctx)
	if err == nil && len(names) == 0 {
		err = noCollections(ctx, s)
	}
	for _, name := range names {
		parts = append(parts, r.collectionPart(ctx, p, where, s, database+"."+name, name))
	}
	return parts, err
}

// checkLive refuses --grep for a database.
func (r *censusReader) checkLive(name string) error {
	if r.options.Format == census.FormatGrep {
		return usagef("--grep finds ids in text, and %s is a database; leave out --grep", name)
	}
	return nil
}

// collectionPart returns p for a collection of s. title names the collection in the report.
func (r *censusReader) collectionPart(ctx context.Context, p part, where *storeFlag, s store.Store, title, collection string) part {
	p.live = &census.Live{Name: p.name, Collection: title}
	if m, ok := s.(*mongostore.Store); ok {
		p.documents = m.Estimate(ctx, collection)
	}
	p.open = r.live(func(ctx context.Context, w io.Writer) error {
		n, err := r.find(ctx, s, collection, w)
		if n == 0 && err == nil {
			err = where.withTables(ctx, collection, missing(ctx, s, collection))
		}
		return err
	})
	return p
}

// find writes the documents of a collection to w, or those whose _id is in the time range of the
// options: an ObjectId, or a string of its digits. MongoDB returns only the field that is
// counted; other stores return whole documents.
func (r *censusReader) find(ctx context.Context, s store.Store, collection string, w io.Writer) (n int64, _ error) {
	ranges := []store.Range{{}}
	if r.options.Field == "_id" && r.options.Range != (objectid.Range{}) {
		ranges = []store.Range{textRange(r.options.Range), store.IDRange(r.options.Range)}
	}
	for _, keys := range ranges {
		q := store.Query{Range: keys}
		docs, whole := s.Find(ctx, collection, q), iter.Seq2[bson.Raw, error](nil)
		if m, ok := s.(*mongostore.Store); ok {
			docs = m.FindField(ctx, collection, r.options.Field, q)
			if !r.isPath() {
				q.Limit = wholeDocuments
			}
			whole = s.Find(ctx, collection, q)
		}
		written, err := r.write(w, docs, whole)
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}

// wholeDocuments is how many documents are read whole if the first one has no id in the field,
// so that the census can say in which other fields ids are.
const wholeDocuments = 1000

// isPath reports whether the field is a path. It may lead through text that contains JSON, of which
// MongoDB knows nothing.
func (r *censusReader) isPath() bool { return strings.ContainsAny(r.options.Field, ".*") }

// write writes docs to w and returns their number. whole, if not nil, are the same documents with
// all fields, or the first of them. If the first document has no id in the field, write writes these
// instead.
func (r *censusReader) write(w io.Writer, docs, whole iter.Seq2[bson.Raw, error]) (n int64, _ error) {
	written := int64(0)
	for doc, err := range docs {
		if err != nil {
			return n, err
		}
		if _, isID := doc.Lookup(strings.Split(r.options.Field, ".")...).ObjectIDOK(); n == 0 && whole != nil && !isID {
			if written, err = r.write(w, whole, nil); err != nil || r.isPath() {
				return written, err
			}
		}
		if n++; n <= written {
			continue
		}
		if _, err := w.Write(doc); err != nil {
			return n, err
		}
	}
	return n, nil
}

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
