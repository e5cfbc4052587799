package mongostore

import (
	"context"
	"errors"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/store"
)

// Watch follows a collection, see [store.Store] and the package comment.
func (s *Store) Watch(ctx context.Context, collection string, r store.Range) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		err := s.watch(ctx, collection, r, func(doc bson.Raw) bool { return yield(doc, nil) })
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

func (s *Store) watch(ctx context.Context, collection string, r store.Range, yield func(bson.Raw) bool) error {
	c, err := s.collection(collection)
	if err != nil {
		return err
	}
	streams, err := s.hasStreams(ctx)
	if err != nil {
		return err
	}
	if !streams {
		return s.poll(ctx, collection, r, yield)
	}
	session, err := s.client.StartSession(options.Session().SetSnapshot(true))
	if err != nil {
		return s.explain(ctx, err)
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	// The stream is opened before what is there is read, so that the server
	// keeps its history, and from the time of the snapshot, which its first
	// read fixes.
	snapshot := mongo.NewSessionContext(ctx, session)
	if err := c.FindOne(snapshot, bson.D{}).Err(); err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return s.explain(ctx, err)
	}
	after := session.SnapshotTime()
	after.I++ // the snapshot holds what was committed at its own time
	inserts := mongo.Pipeline{{{Key: "$match", Value: bson.D{{Key: "operationType", Value: "insert"}}}}}
	stream, err := c.Watch(ctx, inserts, options.ChangeStream().SetStartAtOperationTime(&after))
	if err != nil {
		return s.explain(ctx, err)
	}
	defer stream.Close(context.WithoutCancel(ctx))
	if err := s.find(snapshot, collection, store.Query{Range: r}, nil, yield); err != nil {
		return err
	}
	for stream.Next(ctx) {
		var event struct {
			Document bson.Raw `bson:"fullDocument"`
		}
		if err := stream.Decode(&event); err != nil {
			return s.explain(ctx, err)
		}
		if r != (store.Range{}) {
			if key, err := store.KeyOf(event.Document); err != nil || !r.Contains(key) {
				continue
			}
		}
		if !yield(slices.Clone(event.Document)) {
			return nil
		}
	}
	if err := stream.Err(); err != nil {
		return s.explain(ctx, err)
	}
	return errors.New("the server has ended the change stream; the collection was dropped or renamed")
}

// hasStreams reports whether the server has change streams and snapshots to begin
// them from: replica sets and sharded clusters of MongoDB 5.0 and later do.
func (s *Store) hasStreams(ctx context.Context) (bool, error) {
	var hello struct {
		SetName string `bson:"setName"` // of a member of a replica set
		Msg     string `bson:"msg"`     // "isdbgrid" of a sharded cluster
		Version int    `bson:"maxWireVersion"`
	}
	const mongoDB5 = 13
	err := s.db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	return hello.Version >= mongoDB5 && (hello.SetName != "" || hello.Msg == "isdbgrid"), s.explain(ctx, err)
}
