package mongostore_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/internal/query"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// Documents must have the same bytes after they were copied from one engine to the other, in both
// directions.
func TestEnginesKeepTheSameBytes(t *testing.T) {
	remote := open(t, testenv.MongoDB(t))
	local, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	docs := testenv.Documents(!testenv.RealMongoDB(t))
	for name, pair := range map[string][2]store.Store{"SQLite to MongoDB": {local, remote}, "MongoDB to SQLite": {remote, local}} {
		from, to := pair[0], pair[1]
		for _, doc := range docs {
			if _, err := from.Insert(t.Context(), name, doc); err != nil {
				t.Fatal(err)
			}
		}
		for doc, err := range from.Find(t.Context(), name, store.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := to.Insert(t.Context(), name, doc); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for _, want := range docs {
			key, err := store.KeyOf(want)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := to.Get(t.Context(), name, key); !bytes.Equal(got, want) || err != nil {
				t.Errorf("%s: %v, %v, want %v", name, got, err, want)
			}
		}
	}
}

// database returns the database of uri, opened with the driver.
func database(t *testing.T, uri string) *mongo.Database {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(t.Context()) })
	name := uri[strings.LastIndex(uri, "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	return client.Database(name)
}

func TestGoDriverReadsWhatWasWritten(t *testing.T) {
	uri := testenv.MongoDB(t)
	s := open(t, uri)
	key, err := s.Insert(t.Context(), "c", bson.D{{Key: "n", Value: int32(7)}})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := key.ID()
	var got bson.D
	if err := database(t, uri).Collection("c").FindOne(t.Context(), objectid.Range{From: id}.Filter()).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got[0].Key != "_id" || got[0].Value != bson.ObjectID(id) {
		t.Errorf("the driver reads %v, want the ObjectId %v", got, id)
	}
}

// The example of the driver must work.
func TestExampleOfTheDriver(t *testing.T) {
	coll := database(t, testenv.MongoDB(t)).Collection("orders")
	old := objectid.MinAt(time.Now().Add(-25 * time.Hour))
	if _, err := coll.InsertOne(t.Context(), bson.D{{Key: "_id", Value: old}, {Key: "item", Value: "stale bread"}}); err != nil {
		t.Fatal(err)
	}
	if n, err := ordersOfToday(t.Context(), coll); n != 1 || err != nil {
		t.Errorf("%d orders of today, %v, want 1", n, err)
	}
}

// insertSample stores a document in the collection sample and returns its id.
func insertSample(t *testing.T, uri string) objectid.ID {
	t.Helper()
	key, err := open(t, uri).Insert(t.Context(), "sample", bson.D{
		{Key: "n", Value: int32(7)},
		{Key: "at", Value: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)},
		{Key: "list", Value: bson.A{"a", bson.D{{Key: "b", Value: 1.5}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := key.ID()
	return id
}

// queries returns a query for the ids of the sample's process, for mongosh, for pymongo, and as
// Extended JSON. Only MongoDB itself can run it, because FerretDB has no $substrBytes.
func queries(t *testing.T, id objectid.ID) (shell, python, extended string) {
	t.Helper()
	write := func(name string) string {
		for _, f := range query.Languages {
			if f.Name == name {
				return f.Write(objectid.Range{From: id}, "", id.String()[8:18])
			}
		}
		t.Fatalf("no form %s", name)
		return ""
	}
	return write("mongosh"), write("python"), write("json")
}

// script runs a client in another language, which must print "ok".
func script(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "DO_NOT_TRACK=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "ok\n") {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}

func TestPymongoReadsWhatWasWritten(t *testing.T) {
	const python = "/usr/bin/python3"
	if err := exec.CommandContext(t.Context(), python, "-c", "import pymongo").Run(); err != nil {
		testenv.Missing(t, "pymongo is missing; get it with \"apt-get install python3-pymongo\"")
	}
	uri := testenv.MongoDB(t)
	id := insertSample(t, uri)
	_, query, extended := queries(t, id)
	script(t, python, "-c", `
import sys, datetime, pymongo, bson, bson.json_util
uri, id, query, extended, runs = sys.argv[1:]
query = eval(query, {"ObjectId": bson.ObjectId})
assert query == bson.json_util.loads(extended), query
sample = pymongo.MongoClient(uri).get_default_database()["sample"]
assert runs == "false" or len(list(sample.find(query))) == 1
docs = list(sample.find())
assert len(docs) == 1, docs
doc = docs[0]
assert doc["_id"] == bson.ObjectId(id) and type(doc["_id"]) is bson.ObjectId, doc
assert list(doc) == ["_id", "n", "at", "list"], doc
assert doc["n"] == 7 and doc["list"] == ["a", {"b": 1.5}], doc
assert doc["at"] == datetime.datetime(2026, 11, 20), doc
print("ok")
`, uri, id.String(), query, extended, strconv.FormatBool(testenv.RealMongoDB(t)))
}

func TestMongoshReadsWhatWasWritten(t *testing.T) {
	mongosh := testenv.Mongosh(t)
	uri := testenv.MongoDB(t)
	id := insertSample(t, uri)
	byProcess, _, extended := queries(t, id)
	file := filepath.Join(t.TempDir(), "check.js")
	text := `
const docs = db.sample.find().toArray();
const d = docs[0];
if (docs.length !== 1 || !(d._id instanceof ObjectId) || d._id.toString() !== "` + id.String() + `" ||
	Object.keys(d).join() !== "_id,n,at,list" || d.n !== 7 || d.list[1].b !== 1.5 || d.at.toISOString() !== "2026-11-20T00:00:00.000Z")
	throw new Error(JSON.stringify(docs));
if (db.sample.countDocuments(` + query.Mongosh(objectid.Range{From: id}) + `) !== 1) throw new Error("not found by its range");
const query = ` + byProcess + `;
if (EJSON.stringify(query) !== EJSON.stringify(EJSON.parse('` + extended + `'))) throw new Error(EJSON.stringify(query));
if (` + strconv.FormatBool(testenv.RealMongoDB(t)) + ` && db.sample.countDocuments(query) !== 1) throw new Error("not found by its process");
print("ok");
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	script(t, mongosh, uri, "--quiet", "--norc", "--file", file)
}
