package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// selectionTimeout is how long a census waits for a server, unless the URL has
// serverSelectionTimeoutMS. A person waits for the answer.
const selectionTimeout = 5 * time.Second

// mongoParts returns the collection that source names on a MongoDB server, or all of
// the database that it names.
func (r *censusReader) mongoParts(ctx context.Context, source string) ([]part, error) {
	uri, database, collection, err := splitNamespace(source)
	if err != nil {
		return nil, err
	}
	o := options.Client().ApplyURI(uri)
	if o.ServerSelectionTimeout == nil {
		o.SetServerSelectionTimeout(selectionTimeout)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", nameOf(source), err)
	}
	r.clients = append(r.clients, client)
	if err := client.Ping(ctx, nil); err != nil {
		return nil, err
	}
	db := client.Database(database)
	if collection != "" {
		return []part{r.mongoPart(ctx, nameOf(source), "", db.Collection(collection))}, nil
	}
	all, err := db.ListCollectionSpecifications(ctx, bson.D{})
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, c := range all {
		if c.Type == "view" || strings.HasPrefix(c.Name, "system.") {
			continue
		}
		parts = append(parts, r.mongoPart(ctx, nameOf(source), database+"."+c.Name, db.Collection(c.Name)))
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("the database %s has no collections", database)
	}
	return parts, nil
}

func (r *censusReader) mongoPart(ctx context.Context, name, collection string, c *mongo.Collection) part {
	p := part{name: name, collection: collection, size: -1, documents: -1}
	// Without an estimate the progress shows no end.
	if n, err := c.EstimatedDocumentCount(ctx); err == nil {
		p.documents = n
	}
	p.open = func(ctx context.Context) (io.ReadCloser, error) {
		return piped(func(w io.Writer) error { return r.find(ctx, c, w) }), nil
	}
	return p
}

// close closes the connections to servers.
func (r *censusReader) close() {
	for _, client := range r.clients {
		// Also after the end of the command's context.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = client.Disconnect(ctx)
		cancel()
	}
}

var errNoHint = errors.New("no hint was given")

// find writes the documents of c to w, each with only the field that is counted.
func (r *censusReader) find(ctx context.Context, c *mongo.Collection, w io.Writer) error {
	filter := bson.M{}
	if r.pushDown() {
		filter = r.options.Range.Filter()
	}
	projection := bson.M{"_id": 0, r.options.Field: 1}
	if r.options.Field == "_id" {
		projection = bson.M{"_id": 1}
	}
	find := options.Find().SetProjection(projection).SetBatchSize(firstBatch)
	var cursor *mongo.Cursor
	err := errNoHint
	if r.options.Field == "_id" {
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
	size, began := int32(firstBatch), time.Now()
	for n := int64(1); cursor.Next(ctx); n++ {
		if _, err := w.Write(cursor.Current); err != nil {
			return err
		}
		if cursor.RemainingBatchLength() == 0 {
			r.progress.count(n)
			size = nextBatch(size, time.Since(began))
			cursor.SetBatchSize(size)
			n, began = 0, time.Now()
		}
	}
	return cursor.Err()
}

const (
	firstBatch = 1_000
	leastBatch = 100
	mostBatch  = 100_000

	// A batch should take at most slowBatch on a slow line, for the progress to move
	// and the connection not to seem dead, and at least fastBatch on a fast one, for
	// round trips not to cost.
	slowBatch = time.Second
	fastBatch = 250 * time.Millisecond
)

// nextBatch returns how many documents to ask for after a batch of size that took took.
func nextBatch(size int32, took time.Duration) int32 {
	switch {
	case took > slowBatch:
		return max(size/2, leastBatch)
	case took < fastBatch:
		return min(size*2, mostBatch)
	}
	return size
}

// splitNamespace splits mongodb://HOST/DATABASE.COLLECTION into a connection string,
// the database and the collection, which is empty for the whole database.
func splitNamespace(source string) (uri, database, collection string, err error) {
	base, query, hasQuery := strings.Cut(source, "?")
	scheme, rest, _ := strings.Cut(base, "://")
	hosts, namespace, _ := strings.Cut(rest, "/")
	namespace, err = url.PathUnescape(namespace)
	database, collection, found := strings.Cut(namespace, ".")
	if err != nil || database == "" || hosts == "" || found && collection == "" {
		return "", "", "", usagef("source %s has no database; write mongodb://HOST/DATABASE.COLLECTION, or mongodb://HOST/DATABASE for all its collections", nameOf(source))
	}
	uri = scheme + "://" + hosts + "/" + url.PathEscape(database)
	if hasQuery {
		uri += "?" + query
	}
	return uri, database, collection, nil
}
