package mongostore

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Watch follows a collection, see [engine.Database] and the package comment.
func (s *database) Watch(ctx context.Context, collection string, r store.Range, yield func(bson.Raw) error) error {
	streams, err := s.hasStreams(ctx)
	if err != nil {
		return err
	}
	if !streams {
		return s.poll(ctx, collection, r, yield)
	}
	f := following{s: s, c: s.db.Collection(collection), r: r, yield: yield}
	return s.explain(ctx, f.run(ctx))
}

// hasStreams reports whether the server has change streams and snapshots to begin
// them from: replica sets and sharded clusters of MongoDB 5.0 and later do.
func (s *database) hasStreams(ctx context.Context) (bool, error) {
	var hello struct {
		SetName string `bson:"setName"` // of a member of a replica set
		Msg     string `bson:"msg"`     // "isdbgrid" of a sharded cluster
		Version int    `bson:"maxWireVersion"`
	}
	const mongoDB5 = 13
	err := s.db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	return hello.Version >= mongoDB5 && (hello.SetName != "" || hello.Msg == "isdbgrid"), s.explain(ctx, err)
}

const (
	// recent is how far back in time each poll looks.
	recent = time.Minute

	// share is the part of the time that passes over all keys may take: 1/share.
	share = 10

	// fetchKeys is how many documents one query asks for by their keys.
	fetchKeys = 500
)

// poll follows a collection on a server that has no change streams.
func (s *database) poll(ctx context.Context, collection string, r store.Range, yield func(bson.Raw) error) error {
	p := polling{s: s, collection: collection, seen: map[string]uint64{}}
	p.yield = func(doc bson.Raw) error {
		begin := time.Now()
		defer func() { p.yielded += time.Since(begin) }()
		return yield(doc)
	}
	begin := time.Now()
	err := s.find(ctx, collection, store.Query{Range: r}, nil, func(doc bson.Raw) error {
		p.seen[identity(doc)] = 0
		return p.yield(doc)
	})
	if err != nil {
		return err
	}
	nextPass := p.nextPass(begin)
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		begin := time.Now()
		p.yielded = 0
		if begin.Before(nextPass) {
			if err := p.look(ctx, latest(r, begin)); err != nil {
				return err
			}
			continue
		}
		if err := p.pass(ctx, r); err != nil {
			return err
		}
		nextPass = p.nextPass(begin)
	}
}

// latest returns the part of r with a time of the latest minute or later.
func latest(r store.Range, now time.Time) store.Range {
	if from := store.IDKey(objectid.MinAt(now.Add(-recent))); from.Compare(r.From) > 0 {
		r.From = from
	}
	return r
}

// polling is one call of poll.
type polling struct {
	s          *database
	collection string
	yield      func(bson.Raw) error
	yielded    time.Duration // how long the caller has taken since the last begin

	// seen holds the identities of the documents that were yielded, and the
	// number of the last pass that has found each.
	seen   map[string]uint64
	passes uint64
}

// nextPass returns when the pass after the one that began at begin is due. What the
// caller took for the documents is not a cost of the pass.
func (p *polling) nextPass(begin time.Time) time.Time {
	return time.Now().Add(share * (time.Since(begin) - p.yielded))
}

// identity returns the type and the bytes of a document's _id.
func identity(doc bson.Raw) string {
	id := doc.Lookup("_id")
	return string(append([]byte{byte(id.Type)}, id.Value...))
}

// pass looks at all keys of r and forgets those that are not there any more.
func (p *polling) pass(ctx context.Context, r store.Range) error {
	p.passes++
	if err := p.look(ctx, r); err != nil {
		return err
	}
	for id, found := range p.seen {
		if found != p.passes {
			delete(p.seen, id)
		}
	}
	return nil
}

// look yields the documents with a key in r that were not seen yet.
func (p *polling) look(ctx context.Context, r store.Range) error {
	var fresh bson.A
	err := p.s.find(ctx, p.collection, store.Query{Range: r}, bson.D{{Key: "_id", Value: 1}}, func(doc bson.Raw) error {
		id := identity(doc)
		if _, old := p.seen[id]; old {
			p.seen[id] = p.passes
		} else {
			fresh = append(fresh, doc.Lookup("_id"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(fresh, fetchKeys) {
		cursor, err := p.s.db.Collection(p.collection).Find(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: some}}}}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
		err = p.s.each(ctx, cursor, err, func(doc bson.Raw) error {
			p.seen[identity(doc)] = p.passes
			return p.yield(doc)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
