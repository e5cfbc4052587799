package mongostore_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

func TestOpenRefuses(t *testing.T) {
	for _, test := range []struct{ uri, want string }{
		{"http://localhost/", "mongodb://"},
		{"mongodb:localhost", "mongodb://"},
		{"mongodb://user:secret@localhost:port/x", "port"},
		{"mongodb://user:sec@ret@localhost/x", "@"},
		{"mongodb://user:secret@localhost/a.b", "a.b"},
		{"mongodb://user:secret@localhost/%zz", "percent-encoding"},
		{"mongodb://user:secret@localhost/" + strings.Repeat("x", 64), "database"},
		{fmt.Sprintf("mongodb://user:secret@127.0.0.1:%d/x?serverSelectionTimeoutMS=200", testenv.FreePort(t)), "does not answer"},
	} {
		s, err := mongostore.Open(t.Context(), test.uri)
		if err == nil {
			s.Close()
			t.Errorf("Open(%s) succeeded", test.uri)
			continue
		}
		if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%s): %v, want %q and no password", test.uri, err, test.want)
		}
	}
}

func TestDefaultDatabase(t *testing.T) {
	uri, _ := testenv.FerretDB(t)
	base := strings.TrimSuffix(uri, "test")
	if _, err := open(t, base).Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	names, err := open(t, base+mongostore.DefaultDatabase).Collections(t.Context())
	if err != nil || len(names) != 1 {
		t.Errorf("database %s has collections %v, %v", mongostore.DefaultDatabase, names, err)
	}
}

// If the server goes away during a call, the call must soon return an error that says so, and
// must not report a document as stored that is not.
func TestServerGoesAway(t *testing.T) {
	uri, server := testenv.FerretDB(t)
	s := open(t, uri+"?serverSelectionTimeoutMS=500")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	stored := 0
	for ctx.Err() == nil {
		docs := make([]any, 100)
		for i := range docs {
			docs[i] = bson.D{{Key: "text", Value: strings.Repeat("x", 1000)}}
		}
		keys, err := s.InsertMany(ctx, "c", docs, nil)
		if err == nil {
			if stored += len(keys); stored == 300 {
				time.AfterFunc(10*time.Millisecond, server.Stop)
			}
			continue
		}
		if !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("InsertMany: %v, want a word on the server", err)
		}
		for _, key := range keys {
			if !key.IsZero() {
				t.Fatal("a document is called stored that may not be")
			}
		}
		break
	}
	if ctx.Err() != nil {
		t.Fatal("no error came")
	}
	for _, err := range s.Find(ctx, "c", store.Query{}) {
		if err == nil || !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("Find: %v, want a word on the server", err)
		}
	}
}

// A collection may contain documents of other programs, with any _id.
func TestForeignKeys(t *testing.T) {
	uri := testenv.MongoDB(t)
	s := open(t, uri)
	c := database(t, uri).Collection("c")
	for _, id := range []any{time.Now(), bson.D{{Key: "a", Value: 1}}, bson.Binary{Subtype: 4, Data: make([]byte, 16)}, objectid.New()} {
		if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}}); err != nil {
			t.Fatal(err)
		}
	}
	for r, want := range map[store.Range]int64{{}: 4, store.IDRange(objectid.Range{}): 1, {From: store.IntKey(0)}: 1, {To: store.IntKey(0)}: 0} {
		found := int64(0)
		for _, err := range s.Find(t.Context(), "c", store.Query{Range: r}) {
			if err != nil {
				t.Fatal(err)
			}
			found++
		}
		if n, err := s.Count(t.Context(), "c", r); n != want || found != want || err != nil {
			t.Errorf("range %v holds %d documents, counted %d, %v, want %d", r, found, n, err, want)
		}
	}
	for doc, err := range s.Find(t.Context(), "c", store.Query{Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.KeyOf(doc); !errors.Is(err, store.ErrKey) {
			t.Errorf("the first document is %v", doc)
		}
	}
}

// A query for a time range must search the index of _id on a real server.
func TestPlanOfARange(t *testing.T) {
	r := objectid.Between(time.Unix(1_800_000_000, 0), time.Unix(1_800_000_060, 0))
	query, err := bson.Marshal(mongostore.Filter(store.IDRange(r)))
	if err != nil {
		t.Fatal(err)
	}
	var got bson.M
	if err := bson.Unmarshal(query, &got); err != nil {
		t.Fatal(err)
	}
	want := bson.M{"_id": bson.D{{Key: "$gte", Value: bson.ObjectID(r.From)}, {Key: "$lt", Value: bson.ObjectID(r.To)}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the query of %v is %v, want %v", r, got, want)
	}
	if !testenv.RealMongoDB(t) {
		return // FerretDB has no plans; OID_TEST_MONGODB names a server that has
	}
	uri := testenv.MongoDB(t)
	s := open(t, uri)
	if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []store.Range{store.IDRange(objectid.Since(time.Now())), {From: store.IntKey(1), To: store.IDKey(objectid.New())}} {
		var plan bson.Raw
		command := bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: mongostore.Filter(r)}, {Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}}}}}
		if err := database(t, uri).RunCommand(t.Context(), command).Decode(&plan); err != nil {
			t.Fatal(err)
		}
		winning := plan.Lookup("queryPlanner", "winningPlan").String()
		if strings.Contains(winning, "COLLSCAN") || !strings.Contains(winning, "IXSCAN") && !strings.Contains(winning, "IDHACK") || strings.Contains(winning, `"SORT"`) {
			t.Errorf("the plan of %v is %s", r, winning)
		}
	}
}
