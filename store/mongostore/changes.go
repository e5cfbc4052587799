package mongostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/store"
)

const (
	// snapshotWait is how long Watch tries to get a snapshot that the server
	// says is not available yet or any more.
	snapshotWait = time.Minute

	// retryPause is the time between two tries.
	retryPause = 100 * time.Millisecond

	// largeDocument is the size in bytes from which a document does not come with
	// its event: the event would have no room beside it.
	largeDocument = 15 << 20
)

// following is one call of Watch on a server with change streams. It reads what is
// there from a snapshot, and then the change stream from the time of the snapshot
// on.
//
// A server keeps a snapshot for some minutes. If it is gone before all is read, what comes
// after the last key is read from a later one, so the documents are from parts of
// different times, while the stream begins at the first:
//
//	keys      ....part 1....|....part 2....|....part 3....
//	yielded   as of 12:00   |as of 12:05   |as of 12:10
//	stream    from 12:00 on: of an insert of part 2 only what is later than 12:05
//
// So each insert is yielded once: by the part that has its key if it is not later than the
// time of that, and otherwise by the stream.
type following struct {
	s     *database
	c     *mongo.Collection
	r     store.Range
	yield func(bson.Raw) error

	parts []part
}

// part is the keys after those of the part before, up to last, which were read from
// the snapshot of a time. The last of the parts has no end and a zero last.
type part struct {
	last store.Key
	time bson.Timestamp
}

func (f *following) run(ctx context.Context) error {
	var stream *mongo.ChangeStream
	defer func() {
		if stream != nil {
			_ = stream.Close(context.WithoutCancel(ctx))
		}
	}()
	var last store.Key // of the documents that were read
	for giveUp := time.Now().Add(snapshotWait); ; {
		before := last
		err := f.snapshot(ctx, &stream, &last)
		if err == nil {
			break
		}
		if last != before {
			giveUp = time.Now().Add(snapshotWait)
		}
		if !isUnavailable(err) || time.Now().After(giveUp) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	for {
		err := f.events(ctx, stream)
		if !isResumable(err) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
		token := stream.ResumeToken()
		_ = stream.Close(context.WithoutCancel(ctx))
		if stream, err = f.open(ctx, options.ChangeStream().SetResumeAfter(token)); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(retryPause):
		return nil
	}
}

// snapshot yields the documents after last as they are at one time, and moves last
// on. The stream is opened before they are read, so that the server keeps its
// history, and from the time of the first snapshot on.
func (f *following) snapshot(ctx context.Context, stream **mongo.ChangeStream, last *store.Key) error {
	session, err := f.s.client.StartSession(options.Session().SetSnapshot(true))
	if err != nil {
		return err
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	inside := mongo.NewSessionContext(ctx, session)
	// The first read fixes the time.
	if err := f.c.FindOne(inside, bson.D{}).Err(); err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return err
	}
	at := session.SnapshotTime()
	if *stream == nil {
		after := at
		after.I++ // the snapshot has what was committed at its own time
		if *stream, err = f.open(ctx, options.ChangeStream().SetStartAtOperationTime(&after)); err != nil {
			return err
		}
	}
	var unknown error // why a document has no key to continue after
	err = f.s.find(inside, f.c.Name(), store.Query{Range: f.r, After: *last}, nil, func(doc bson.Raw) error {
		if key, err := store.KeyOf(doc); err != nil {
			unknown = err
		} else {
			*last, unknown = key, nil
		}
		return f.yield(doc)
	})
	switch {
	case err == nil:
		f.parts = append(f.parts, part{time: at})
	case unknown != nil:
		return fmt.Errorf("read on in collection %s after %v: %w", f.c.Name(), err, unknown)
	case !last.IsZero():
		f.parts = append(f.parts, part{*last, at})
	}
	return err
}

// open opens a stream of the inserts in the range. A document that is too large for
// its event is left out of it.
func (f *following) open(ctx context.Context, o *options.ChangeStreamOptionsBuilder) (*mongo.ChangeStream, error) {
	match := append(bson.D{{Key: "operationType", Value: "insert"}}, filterOf("documentKey._id", f.r, false)...)
	large := bson.D{{Key: "$gt", Value: bson.A{bson.D{{Key: "$bsonSize", Value: "$fullDocument"}}, largeDocument}}}
	document := bson.D{{Key: "$cond", Value: bson.A{large, "$$REMOVE", "$fullDocument"}}}
	return f.c.Watch(ctx, mongo.Pipeline{
		{{Key: "$match", Value: match}},
		{{Key: "$set", Value: bson.D{{Key: "fullDocument", Value: document}}}},
	}, o)
}

// events yields the documents of a stream, until it fails.
func (f *following) events(ctx context.Context, stream *mongo.ChangeStream) error {
	for stream.Next(ctx) {
		doc, err := f.document(ctx, stream.Current)
		if err != nil {
			return err
		}
		if doc != nil {
			if err := f.yield(doc); err != nil {
				return err
			}
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return errors.New("the server has ended the change stream; the collection was dropped or renamed")
}

// document returns the document of an event, or nil if it was read from a snapshot
// or is not there any more.
func (f *following) document(ctx context.Context, event bson.Raw) (bson.Raw, error) {
	var e struct {
		Time     bson.Timestamp `bson:"clusterTime"`
		Document bson.Raw       `bson:"fullDocument"`
		Key      bson.Raw       `bson:"documentKey"`
	}
	if err := bson.Unmarshal(event, &e); err != nil {
		return nil, err
	}
	if len(f.parts) > 1 && !e.Time.After(f.read(e.Key)) {
		return nil, nil
	}
	if e.Document != nil {
		return slices.Clone(e.Document), nil
	}
	c := f.s.consistent.Collection(f.c.Name()) // where the document is, also if others lag behind
	doc, err := c.FindOne(ctx, bson.D{{Key: "_id", Value: e.Key.Lookup("_id")}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return doc, err
}

// read returns the time of the snapshot from which the document was read, if it
// was there.
func (f *following) read(documentKey bson.Raw) bson.Timestamp {
	key, err := store.KeyOf(documentKey)
	for _, p := range f.parts {
		if err == nil && !p.last.IsZero() && key.Compare(p.last) <= 0 {
			return p.time
		}
	}
	return f.parts[len(f.parts)-1].time
}

// isUnavailable reports whether the server does not have a snapshot, by the codes
// SnapshotTooOld, SnapshotUnavailable and StaleChunkHistory.
func isUnavailable(err error) bool { return hasCode(err, 239, 246, 257) }

// isResumable reports whether a stream that has ended with err can be resumed. The
// driver tries that once by itself.
func isResumable(err error) bool {
	e, ok := errors.AsType[mongo.ServerError](err)
	return mongo.IsNetworkError(err) || isLost(err) || ok && e.HasErrorLabel("ResumableChangeStreamError")
}

func hasCode(err error, codes ...int) bool {
	e, ok := errors.AsType[mongo.ServerError](err)
	return ok && slices.ContainsFunc(codes, e.HasErrorCode)
}
