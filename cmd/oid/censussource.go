package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

// censusReader reads the sources of oid census.
type censusReader struct {
	std      streams
	where    *storeFlag
	options  *census.Options
	quiet    bool
	progress *progress
	stores   []store.Store // that are open
}

// readAll reads every source into c. Unreadable sources are part of c's report; the
// errors returned are those of wrong use and of ctx.
func (r *censusReader) readAll(ctx context.Context, c *census.Census, sources []string) error {
	defer func() {
		for _, s := range r.stores {
			_ = s.Close() // it was only read
		}
		r.stores = nil
	}()
	var parts []part
	for _, arg := range sources {
		more, err := r.parts(ctx, arg)
		if _, isUsage := errors.AsType[usageError](err); isUsage {
			return err
		}
		if err != nil {
			more = []part{{name: nameOf(arg), size: -1, documents: -1, open: func(context.Context) (io.ReadCloser, error) { return nil, err }}}
		}
		parts = append(parts, more...)
	}
	total, isBytes := totalSize(parts)
	r.progress = newBar(r.std, r.quiet, "reading", "documents", total, isBytes)
	defer r.progress.finish()
	for _, p := range parts {
		if err := r.readPart(ctx, c, p); err != nil {
			return err
		}
	}
	return nil
}

func (r *censusReader) readPart(ctx context.Context, c *census.Census, p part) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	in, err := p.open(ctx)
	if err != nil {
		in = piped(func(io.Writer) error { return err })
	}
	// The report has the error.
	_ = c.ReadCollection(ctx, p.name, p.collection, r.progress.reader(in))
	if ctx.Err() != nil {
		// Closing may wait for a server, and the process ends soon.
		go in.Close()
		return context.Cause(ctx)
	}
	return in.Close()
}

// nameOf returns the name of a source for people: a URL without its password.
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

// parts returns what there is to read of a source.
func (r *censusReader) parts(ctx context.Context, arg string) ([]part, error) {
	p := part{name: nameOf(arg), size: -1, documents: -1}
	one := func(open func(context.Context) (io.ReadCloser, error)) ([]part, error) {
		p.open = open
		return []part{p}, nil
	}
	switch e := storeEngineOf(arg); {
	case arg == "-":
		return one(func(ctx context.Context) (io.ReadCloser, error) {
			return io.NopCloser(r.std.stdin(ctx, "the source")), nil
		})
	case strings.HasPrefix(arg, "store:"):
		return r.storeParts(ctx, r.where, p, "", strings.TrimPrefix(arg, "store:"))
	case e != nil && e.whole:
		base, database, collection, err := splitNamespace(arg)
		if err != nil {
			return nil, err
		}
		return r.storeParts(ctx, &storeFlag{url: base}, p, database, collection)
	case e != nil:
		i := strings.LastIndexByte(arg, '#')
		if i < 0 {
			return nil, usagef("source %q has no collection; write it at the end, as in %s#COLLECTION", nameOf(arg), e.url)
		}
		return r.storeParts(ctx, &storeFlag{url: arg[:i]}, p, "", arg[i+1:])
	}
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, `/\.`) {
		return nil, fmt.Errorf("%w; a collection of the store is store:%s", err, arg)
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return folderParts(arg, r.options.Format)
	}
	if info.Mode().IsRegular() {
		p.size = info.Size()
		return one(func(context.Context) (io.ReadCloser, error) { return os.Open(arg) })
	}
	// Opening a FIFO waits for a writer, and reading waits for its output.
	return one(func(ctx context.Context) (io.ReadCloser, error) {
		return interruptible(ctx, piped(func(w io.Writer) error {
			f, err := os.Open(arg)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(w, f)
			return err
		})), nil
	})
}

// storeParts returns p as a collection of a store or, if that is empty, as all collections of
// its database.
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

// find writes the documents of a collection to w, with only the field that is counted where
// the store can leave out the others.
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

// countedTogether is how many documents the progress takes at once.
const countedTogether = 1000

// splitNamespace splits mongodb://HOST/DATABASE.COLLECTION into the URL of a store, the
// database and the collection, which is empty for the whole database.
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

// piped returns the output of write, which runs in a goroutine.
func piped(write func(io.Writer) error) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		buffered := bufio.NewWriterSize(w, 1<<18)
		err := write(buffered)
		if err == nil {
			err = buffered.Flush()
		}
		w.CloseWithError(err)
	}()
	return r
}

// totalSize returns how much there is to read, or -1 if that is not known: documents if
// all parts come from servers that estimate their number, or else bytes.
func totalSize(parts []part) (total int64, isBytes bool) {
	var size, documents int64
	for _, p := range parts {
		size, documents = size+p.size, documents+p.documents
	}
	switch {
	case !slices.ContainsFunc(parts, func(p part) bool { return p.documents < 0 }):
		return documents, false
	case !slices.ContainsFunc(parts, func(p part) bool { return p.size < 0 }):
		return size, true
	}
	return -1, true
}

// dumpEndings are those of the files of mongodump with documents, also compressed
// afterwards.
var dumpEndings = []string{".bson", ".bson.gz", ".bson.zst"}

// folderParts returns what there is to read in a folder and in those in it.
//
// If it has .bson files it is a folder of mongodump, with files DATABASE/COLLECTION.bson,
// or that of one database, and all other files are left out. Of any other folder, and if
// format is not BSON but says how the files are written, every file is a collection, which
// is called by the file's path in the folder, without its ending. With Grep all are one
// text. Files and folders that begin with a dot are left out.
func folderParts(folder string, format census.Format) ([]part, error) {
	var dump, files []part
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(entry.Name(), ".") && path != folder; {
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden, entry.IsDir():
			return nil
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		p := part{
			name: path, size: info.Size(), documents: -1,
			open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) },
		}
		if format != census.FormatGrep {
			within, _ := filepath.Rel(folder, path) // it is in it
			within = strings.TrimSuffix(strings.TrimSuffix(within, ".gz"), ".zst")
			p.collection = filepath.ToSlash(strings.TrimSuffix(within, filepath.Ext(within)))
		}
		files = append(files, p)
		for _, ending := range dumpEndings {
			if base, ok := strings.CutSuffix(entry.Name(), ending); ok {
				p.collection = databaseOf(path) + collectionOf(path, base)
				dump = append(dump, p)
			}
		}
		return nil
	})
	if isDump := format == census.FormatAuto || format == census.FormatBSON; isDump && len(dump) > 0 {
		files = dump
	}
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("the folder %s has no files to read", folder)
	}
	return files, err
}

// databaseOf returns the database of a file, which is the name of its folder, with a dot.
func databaseOf(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	if database := filepath.Base(filepath.Dir(absolute)); database != string(filepath.Separator) {
		return database + "."
	}
	return ""
}

// collectionOf returns the collection of a file called base. mongodump escapes some
// characters of the name as in a URL, and a long name is only in the metadata.
func collectionOf(path, base string) string {
	var metadata struct{ CollectionName string }
	data, err := os.ReadFile(filepath.Join(filepath.Dir(path), base+".metadata.json"))
	if err == nil && json.Unmarshal(data, &metadata) == nil && metadata.CollectionName != "" {
		return metadata.CollectionName
	}
	if name, err := url.PathUnescape(base); err == nil {
		return name
	}
	return base
}

// part is what is read as one: a file, a collection, or one of those in a folder or a
// database.
type part struct {
	name       string // of its source, for people
	collection string // or empty, see [census.Census.ReadCollection]
	size       int64  // bytes to read, or -1
	documents  int64  // to read, as the server estimates, or -1
	open       func(ctx context.Context) (io.ReadCloser, error)
}
