package mongostore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// at is the cluster time of so many ticks after the beginning.
func at(tick uint32) bson.Timestamp { return bson.Timestamp{T: 1000, I: tick} }

// snapshotOf answers a read of a snapshot with documents.
func snapshotOf(tick uint32, id int64, keys ...int32) func(bson.Raw) any {
	return cursor("firstBatch", id, bson.D{{Key: "atClusterTime", Value: at(tick)}}, documents(keys...)...)
}

func documents(keys ...int32) []any {
	var docs []any
	for _, key := range keys {
		docs = append(docs, bson.D{{Key: "_id", Value: key}})
	}
	return docs
}

// event is the insert of a document.
func event(tick uint32, key int32) bson.D {
	return append(largeEvent(tick, key), bson.E{Key: "fullDocument", Value: bson.D{{Key: "_id", Value: key}}})
}

// largeEvent is the insert of a document that is too large for its event.
func largeEvent(tick uint32, key int32) bson.D {
	return bson.D{
		{Key: "_id", Value: bson.D{{Key: "token", Value: int64(tick)}}},
		{Key: "operationType", Value: "insert"},
		{Key: "clusterTime", Value: at(tick)},
		{Key: "documentKey", Value: bson.D{{Key: "_id", Value: key}}},
	}
}

// streamOf answers the opening of a stream, and events what comes of it.
func streamOf() func(bson.Raw) any { return events("firstBatch") }

func events(batch string, events ...any) func(bson.Raw) any {
	return cursor(batch, 99, bson.D{{Key: "postBatchResumeToken", Value: bson.D{{Key: "token", Value: int64(len(events))}}}}, events...)
}

func next(list ...any) func(bson.Raw) any { return events("nextBatch", list...) }

// quiet answers that nothing has come, after a while.
func quiet(bson.Raw) any {
	time.Sleep(5 * time.Millisecond)
	return next()(nil)
}

// expectWatch watches the range until it has returned these keys, and a while longer.
func expectWatch(t *testing.T, s store.Store, r store.Range, want ...int32) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var got []int32
	for doc, err := range s.Watch(ctx, "c", r) {
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			t.Fatalf("Watch after %v: %v", got, err)
		}
		if got = append(got, doc.Lookup("_id").Int32()); len(got) == len(want) {
			time.AfterFunc(50*time.Millisecond, stop)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("Watch returned %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("Watch returned %v, want %v", got, want)
		}
	}
}

// TestWatchFromSnapshot: what is there comes from a snapshot, and what comes from the
// stream that begins at its time, also a document that is inserted again.
func TestWatchFromSnapshot(t *testing.T) {
	m := newScripted(t)
	m.on("find", snapshotOf(5, 0, 1), snapshotOf(5, 0, 1, 2))
	m.on("aggregate", streamOf())
	m.on("getMore", next(event(6, 3), event(7, 1)), next(event(8, 3)), quiet)
	expectWatch(t, m.open(""), store.Range{}, 1, 2, 3, 1, 3)
	open := m.got("aggregate")[0]
	stages, err := open.Lookup("pipeline").Array().Values()
	if err != nil {
		t.Fatal(err)
	}
	start := stages[0].Document().Lookup("$changeStream", "startAtOperationTime")
	if tick, i := start.Timestamp(); (bson.Timestamp{T: tick, I: i}) != at(6) {
		t.Errorf("the stream starts at %v, want just after the snapshot", start)
	}
}

// TestWatchFiltersOnServer asks for events of the range alone, by the key that also
// large events have.
func TestWatchFiltersOnServer(t *testing.T) {
	m := newScripted(t)
	m.on("find", snapshotOf(5, 0))
	m.on("aggregate", streamOf())
	m.on("getMore", next(event(6, 10)), quiet)
	expectWatch(t, m.open(""), store.Range{From: store.IntKey(10), To: store.IntKey(20)}, 10)
	match := m.got("aggregate")[0].Lookup("pipeline", "1", "$match").String()
	for _, want := range []string{`"operationType": "insert"`, `"documentKey._id": {"$gte": {"$numberLong":"10"},"$lt": {"$numberLong":"20"}}`} {
		if !strings.Contains(match, want) {
			t.Errorf("the stream matches %s, want %s in it", match, want)
		}
	}
}

// TestWatchRetriesSnapshots: a snapshot that is not available is asked for again.
func TestWatchRetriesSnapshots(t *testing.T) {
	m := newScripted(t)
	m.on("find", fails(246), fails(246), snapshotOf(5, 0), fails(246), snapshotOf(7, 0), snapshotOf(7, 0, 1))
	m.on("aggregate", streamOf())
	m.on("getMore", next(event(8, 2)), quiet)
	expectWatch(t, m.open("retryReads=false"), store.Range{}, 1, 2)
}

// TestWatchSnapshotTooOld: when a snapshot is lost in the middle, the rest is read
// from a later one, and what that has does not come again from the stream.
func TestWatchSnapshotTooOld(t *testing.T) {
	m := newScripted(t)
	m.on("find",
		snapshotOf(5, 0), snapshotOf(5, 77, 1, 2), // and then the cursor is lost
		snapshotOf(9, 0), snapshotOf(9, 0, 4, 6))
	m.on("aggregate", streamOf())
	m.on("getMore",
		fails(239),
		next(event(6, 4), event(7, 2), event(9, 6), event(10, 5)),
		quiet)
	expectWatch(t, m.open("retryReads=false"), store.Range{}, 1, 2, 4, 6, 2, 5)
	if n := len(m.got("aggregate")); n != 1 {
		t.Errorf("%d streams were opened, want the first one to go on", n)
	}
	rest := m.got("find")[3].Lookup("filter").String()
	if !strings.Contains(rest, `"$gt"`) || !strings.Contains(rest, `"2"`) {
		t.Errorf("read on with %s, want what is after 2", rest)
	}
}

// TestWatchReadsLargeDocuments: the document of an event without one is read by its
// key, and one that is gone meanwhile does not come.
func TestWatchReadsLargeDocuments(t *testing.T) {
	m := newScripted(t)
	m.on("find", snapshotOf(5, 0), snapshotOf(5, 0),
		cursor("firstBatch", 0, nil, documents(3)...), cursor("firstBatch", 0, nil), cursor("firstBatch", 0, nil, documents(5)...))
	m.on("aggregate", streamOf())
	m.on("getMore", next(largeEvent(6, 3), largeEvent(7, 4)), next(largeEvent(8, 5)), quiet)
	expectWatch(t, m.open("readPreference=secondaryPreferred"), store.Range{}, 3, 5)
	for _, c := range m.got("find")[2:] {
		if mode, err := c.LookupErr("$readPreference", "mode"); err == nil && mode.StringValue() != "primary" {
			t.Errorf("a large document is read with %v, want the primary", c)
		}
	}
	if stage := m.got("aggregate")[0].Lookup("pipeline", "2").String(); !strings.Contains(stage, "$bsonSize") {
		t.Errorf("the stream has %s, want large documents to be left out", stage)
	}
}

// TestWatchResumes: a stream whose cursor is lost or whose connection is cut goes on
// after its latest event.
func TestWatchResumes(t *testing.T) {
	t.Parallel()
	for name, loss := range map[string]func(bson.Raw) any{
		"lost cursor":  fails(43),
		"killed":       fails(237),
		"cut":          func(bson.Raw) any { return cut{} },
		"stepped down": fails(189, "ResumableChangeStreamError"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newScripted(t)
			m.on("find", snapshotOf(5, 0))
			m.on("aggregate", streamOf())
			m.on("getMore", next(event(6, 1)), loss, loss, next(event(7, 2)), loss, loss, next(event(8, 3)), quiet)
			expectWatch(t, m.open("retryReads=false"), store.Range{}, 1, 2, 3)
			opened := m.got("aggregate")
			for _, c := range opened[1:] {
				if _, err := c.LookupErr("pipeline", "0", "$changeStream", "resumeAfter"); err != nil {
					t.Errorf("opened again with %v, want resumeAfter", c)
				}
			}
			if len(opened) < 3 {
				t.Errorf("opened %d times, want it to be opened after each loss", len(opened))
			}
		})
	}
}

// TestWatchHistoryLost: an error that cannot be mended ends Watch.
func TestWatchHistoryLost(t *testing.T) {
	m := newScripted(t)
	m.on("find", snapshotOf(5, 0))
	m.on("aggregate", streamOf())
	m.on("getMore", fails(286))
	for _, err := range m.open("").Watch(t.Context(), "c", store.Range{}) {
		if err == nil || !strings.Contains(err.Error(), "scripted error 286") {
			t.Errorf("Watch: %v, want the server's error", err)
		}
	}
}

// TestFindResumesLostCursor: a list whose cursor is lost goes on with another one,
// up to its limit.
func TestFindResumesLostCursor(t *testing.T) {
	m := newScripted(t)
	m.on("find", cursor("firstBatch", 77, nil, documents(1, 2)...), cursor("firstBatch", 0, nil, documents(3)...))
	m.on("getMore", fails(43))
	s := m.open("")
	var got []int32
	for doc, err := range s.Find(t.Context(), "c", store.Query{Limit: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, doc.Lookup("_id").Int32())
	}
	if len(got) != 3 || got[2] != 3 {
		t.Errorf("found %v, want 1, 2, 3", got)
	}
	second := m.got("find")[1]
	if limit := second.Lookup("limit").AsInt64(); limit != 1 {
		t.Errorf("asked for %d more, want 1", limit)
	}
	if filter := second.Lookup("filter", "$or", "0", "_id", "$gt"); filter.AsInt64() != 2 {
		t.Errorf("read on with %v, want what is after 2", second.Lookup("filter"))
	}
}
