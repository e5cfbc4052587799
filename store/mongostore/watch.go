package mongostore

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Watch follows a collection, see [store.Store] and the package comment.
func (s *Store) Watch(ctx context.Context, collection string, r store.Range) iter.Seq2[bson.Raw, error] {
	return engine.Sequence(func(yield func(bson.Raw) error) error { return s.watch(ctx, collection, r, yield) })
}

func (s *Store) watch(ctx context.Context, collection string, r store.Range, yield func(bson.Raw) error) error {
	c, err := s.collection(ctx, collection)
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
	f := following{s: s, c: c, r: r, yield: yield}
	return s.explain(ctx, f.run(ctx))
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
