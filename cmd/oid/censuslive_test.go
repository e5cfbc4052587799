package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// censusOf runs oid census --json and returns what it says.
func censusOf(t *testing.T, args ...string) wire.Census {
	t.Helper()
	var out, errs strings.Builder
	code := run(t.Context(), streams{strings.NewReader(""), &out, &errs}, append([]string{"census", "--json"}, args...))
	if code != exitDone {
		t.Fatalf("oid census %v: exit code %d: %s%s", args, code, errs.String(), out.String())
	}
	var r wire.Census
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCensusOfCollection counts a collection on a server, and the same documents
// in a file.
func TestCensusOfCollection(t *testing.T) {
	uri := testenv.MongoDB(t)
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(u.Path, "/")
	const n = 25_000
	start := time.Date(2024, 3, 20, 14, 0, 0, 0, time.UTC)
	now := start
	g, err := objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	docs := make([]any, n)
	dump, err := os.Create(filepath.Join(t.TempDir(), "orders.bson"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		now = start.Add(time.Duration(i) * time.Second)
		d := bson.D{{Key: "_id", Value: g.New()}, {Key: "customer", Value: bson.D{{Key: "ref", Value: objectid.New()}}}, {Key: "pad", Value: strings.Repeat("x", 50)}}
		docs[i] = d
		b, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dump.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := dump.Close(); err != nil {
		t.Fatal(err)
	}
	c := client.Database(database).Collection("or.ders")
	for i := 0; i < n; i += 5000 {
		if _, err := c.InsertMany(t.Context(), docs[i:i+5000]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: "a string"}}); err != nil {
		t.Fatal(err)
	}
	u.Path += ".or.ders"
	source := u.String()

	r := censusOf(t, source)
	if r.IDs != n || r.Processes != 1 || len(r.Others) != 1 || r.Others[0].Values != 1 || !r.First.Equal(start) {
		t.Errorf("%d ids, %d writers, others %v, from %v", r.IDs, r.Processes, r.Others, r.First)
	}
	r = censusOf(t, "--from", "2024-03-20T15:00", "--to", "2024-03-20T16:00", source)
	if r.IDs != 3600 || len(r.Others) != 0 {
		t.Errorf("%d ids in an hour, others %v, want 3600", r.IDs, r.Others)
	}
	r = censusOf(t, "--field", "customer.ref", source)
	if r.IDs != n || r.WithoutField != 1 {
		t.Errorf("%d references, %d without, want %d and 1", r.IDs, r.WithoutField, n)
	}

	// The server returns only the field; where it has no ids, the first documents are read whole.
	got := oid(t, "", "census", "--field", "customer.nothing", source)
	if got.code != exitFailed || !strings.Contains(got.err, "in the first 1,000 documents, `_id` has 999 ids: write --field _id; `customer.ref` has 999 ids: write --field customer.ref") || !strings.Contains(got.out, "25,001 documents") {
		t.Errorf("a field without ids: %+v", got)
	}

	// Paths of which the server knows nothing are followed.
	for i := range 3 {
		after := fmt.Sprintf(`{"_id":{"$oid":"6592008029c8c3e4dc76250%d"}}`, i)
		if _, err := client.Database(database).Collection("text").InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}, {Key: "after", Value: after}}); err != nil {
			t.Fatal(err)
		}
	}
	u.Path = "/" + database + ".text"
	if r := censusOf(t, "--field", "after._id", u.String()); r.IDs != 3 {
		t.Errorf("%d ids in JSON within text", r.IDs)
	}
	if err := client.Database(database).Collection("text").Drop(t.Context()); err != nil {
		t.Fatal(err)
	}

	var out, errs strings.Builder
	if code := run(t.Context(), streams{strings.NewReader(""), &out, &errs}, []string{"census", "--compare", "--json", dump.Name(), source}); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var d wire.Difference
	if err := json.Unmarshal([]byte(out.String()), &d); err != nil {
		t.Fatal(err)
	}
	if d.BothIDs != n || d.A.OnlyIDs != 0 || d.B.OnlyIDs != 0 || d.B.OtherValues != 1 {
		t.Errorf("dump against collection: %s", out.String())
	}

	// Every collection of the database, each by itself.
	if _, err := client.Database(database).Collection("other").InsertOne(t.Context(), bson.D{{Key: "_id", Value: objectid.New()}}); err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + database
	r = censusOf(t, u.String())
	ids := map[string]int64{}
	for _, s := range r.Sources {
		ids[s.Collection] = s.IDs
	}
	if ids[database+".or.ders"] != n || ids[database+".other"] != 1 || len(r.Sources) != 2 {
		t.Errorf("ids by collection of a database: %v, want %d and 1", ids, n)
	}

	// A server that is not there is an error that says so, and no password.
	out.Reset()
	u.Host, u.User = "127.0.0.1:1", url.UserPassword("me", "secret")
	u.RawQuery = "serverSelectionTimeoutMS=200"
	if code := run(t.Context(), streams{strings.NewReader(""), &out, &errs}, []string{"census", u.String()}); code != exitFailed || strings.Contains(out.String()+errs.String(), "secret") {
		t.Errorf("no server: exit code %d: %s%s", code, out.String(), errs.String())
	}
}

// TestCensusOfFIFO counts what comes through a FIFO, and does not hang on one
// that nobody writes to when it is interrupted.
func TestCensusOfFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		testenv.Missing(t, fmt.Sprintf("mkfifo: %v: %s", err, out))
	}
	go func() {
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		if err == nil {
			_, err = io.WriteString(f, "6592008029c8c3e4dc762501\n6592008029c8c3e4dc762502")
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}()
	if r := censusOf(t, fifo); r.IDs != 2 || r.Sources[0].Error != "" {
		t.Errorf("%d ids, error %q", r.IDs, r.Sources[0].Error)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, streams{strings.NewReader(""), io.Discard, io.Discard}, []string{"census", fifo})
	}()
	select {
	case code := <-done:
		if code == exitDone {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(30 * time.Second):
		t.Error("still waiting for a FIFO that nobody writes to")
	}
	// Let go of the goroutine that waits to open it.
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestCensusOfNoServer gives up on a server that refuses connections while a person
// waits, and on one that never answers.
func TestCensusOfNoServer(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var all sync.WaitGroup
	defer all.Wait()
	for _, host := range []string{"127.0.0.1:1", silent.Addr().String()} {
		for _, path := range []string{"/shop", "/shop.orders"} {
			all.Go(func() {
				began := time.Now()
				got := oid(t, "", "census", "mongodb://"+host+path)
				if took := time.Since(began); got.code != exitFailed || !strings.Contains(got.err, "MongoDB at "+host+" does not answer") || took > 20*time.Second {
					t.Errorf("%s%s: exit code %d after %v: %s", host, path, got.code, took, got.err)
				}
			})
		}
	}
}
