package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/engine"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// censusReader reads the sources of oid census.
type censusReader struct {
	std   streams
	flags *censusFlags
}

// readAll reads every source into c. Unreadable sources are part of c's report; the
// errors returned are those of wrong use and of ctx.
func (r *censusReader) readAll(ctx context.Context, c *census.Census, sources []string) error {
	p := newProgress(r.std, r.flags.quiet, sources)
	defer p.finish()
	for _, source := range sources {
		in, err := r.open(ctx, source)
		if _, isUsage := errors.AsType[usageError](err); isUsage {
			return err
		}
		if err != nil {
			in = io.NopCloser(failing{err})
		}
		// The report has the error.
		_ = c.Read(ctx, nameOf(source), p.reader(in))
		if err := errors.Join(ctx.Err(), in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// failing is a source that cannot be opened.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// nameOf returns the name of a source for people: a URL without its password.
func nameOf(source string) string {
	if source == "-" {
		return "standard input"
	}
	if isMongo(source) || isPostgres(source) {
		if u, err := url.Parse(source); err == nil {
			return u.Redacted()
		}
		scheme, _, _ := strings.Cut(source, ":")
		return "the collection of " + scheme + "://..."
	}
	return source
}

func isMongo(source string) bool {
	return strings.HasPrefix(source, "mongodb://") || strings.HasPrefix(source, "mongodb+srv://")
}

// open returns the content of a source: the bytes of a file, or the documents of a
// collection as BSON.
func (r *censusReader) open(ctx context.Context, source string) (io.ReadCloser, error) {
	switch {
	case source == "-":
		return io.NopCloser(r.std.stdin(ctx, "the source")), nil
	case isMongo(source):
		return r.mongo(ctx, source)
	case strings.HasPrefix(source, "store:"):
		return r.store(ctx, &r.flags.where, strings.TrimPrefix(source, "store:"))
	case strings.HasPrefix(source, "sqlite:"), isPostgres(source):
		i := strings.LastIndexByte(source, '#')
		if i < 0 {
			return nil, usagef("source %q has no collection; write it at the end, as in sqlite:PATH#COLLECTION", nameOf(source))
		}
		return r.store(ctx, &storeFlag{url: source[:i]}, source[i+1:])
	}
	info, err := os.Stat(source)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(source, `/\.`) {
		return nil, fmt.Errorf("%w; a collection of the store is store:%s", err, source)
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder; name the files in it, such as %s", source, strings.TrimSuffix(source, "/")+"/*.bson")
	}
	if info.Mode().IsRegular() {
		return os.Open(source)
	}
	// Opening a FIFO waits for a writer, and reading waits for its output.
	return interruptible(ctx, &lazyFile{path: source}), nil
}

// lazyFile is a file that is opened by the first Read.
type lazyFile struct {
	path string
	file *os.File
}

func (f *lazyFile) Read(p []byte) (int, error) {
	if f.file == nil {
		file, err := os.Open(f.path)
		if err != nil {
			return 0, err
		}
		f.file = file
	}
	return f.file.Read(p)
}

// store returns the documents of a collection of a store.
func (r *censusReader) store(ctx context.Context, where *storeFlag, collection string) (io.ReadCloser, error) {
	if err := engine.CheckCollection(collection); err != nil {
		return nil, usageError{err}
	}
	s, err := where.openToRead(ctx)
	if err != nil {
		return nil, err
	}
	var q store.Query
	if r.pushDown() {
		q.Range = store.IDs(r.flags.options.Range)
	}
	return documents(func(w io.Writer) error {
		defer s.Close()
		for doc, err := range s.Find(ctx, collection, q) {
			if err != nil {
				return err
			}
			if _, err := w.Write(doc); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// pushDown reports whether the store can select the ids in the range.
func (r *censusReader) pushDown() bool {
	return r.flags.options.Field == "_id" && r.flags.options.Range != (objectid.Range{})
}

// mongo returns the documents of a collection on a MongoDB server, each with only the
// field that is counted.
func (r *censusReader) mongo(ctx context.Context, source string) (io.ReadCloser, error) {
	uri, database, collection, err := splitNamespace(source)
	if err != nil {
		return nil, err
	}
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", nameOf(source), err)
	}
	c := client.Database(database).Collection(collection)
	return documents(func(w io.Writer) error {
		// The connection must be closed also after ctx has ended.
		defer func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }()
		return r.find(ctx, c, w)
	}), nil
}

var errNoHint = errors.New("no hint was given")

// find writes the documents of c to w.
func (r *censusReader) find(ctx context.Context, c *mongo.Collection, w io.Writer) error {
	filter := bson.M{}
	if r.pushDown() {
		filter = r.flags.options.Range.Filter()
	}
	projection := bson.M{"_id": 0, r.flags.options.Field: 1}
	if r.flags.options.Field == "_id" {
		projection = bson.M{"_id": 1}
	}
	find := options.Find().SetProjection(projection).SetBatchSize(10_000)
	var cursor *mongo.Cursor
	err := errNoHint
	if r.flags.options.Field == "_id" {
		// With the hint the server reads only the index. Some collections have no
		// index on _id.
		cursor, err = c.Find(ctx, filter, find, options.Find().SetHint(bson.D{{Key: "_id", Value: 1}}))
	}
	if err != nil && ctx.Err() == nil && !mongo.IsNetworkError(err) && !mongo.IsTimeout(err) {
		cursor, err = c.Find(ctx, filter, find)
	}
	if err != nil {
		return err
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	for cursor.Next(ctx) {
		if _, err := w.Write(cursor.Current); err != nil {
			return err
		}
	}
	return cursor.Err()
}

// splitNamespace splits mongodb://HOST/DATABASE.COLLECTION into a connection string,
// the database and the collection.
func splitNamespace(source string) (uri, database, collection string, err error) {
	base, query, hasQuery := strings.Cut(source, "?")
	scheme, rest, _ := strings.Cut(base, "://")
	hosts, namespace, _ := strings.Cut(rest, "/")
	namespace, err = url.PathUnescape(namespace)
	database, collection, found := strings.Cut(namespace, ".")
	if err != nil || !found || database == "" || collection == "" || hosts == "" {
		return "", "", "", usagef("source %s has no collection; write mongodb://HOST/DATABASE.COLLECTION", nameOf(source))
	}
	uri = scheme + "://" + hosts + "/" + url.PathEscape(database)
	if hasQuery {
		uri += "?" + query
	}
	return uri, database, collection, nil
}

// documents returns the output of write, which runs in a goroutine.
func documents(write func(io.Writer) error) io.ReadCloser {
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
