package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// TestCensusOfDump counts a folder as mongodump leaves it: the files of two databases,
// of which one collection is empty, one compressed, one called by an escaped name and
// one by a name that is only in its metadata.
func TestCensusOfDump(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "dump")
	documents := func(n int) []byte {
		var b bytes.Buffer
		for range n {
			d, err := bson.Marshal(bson.D{{Key: "_id", Value: objectid.New()}})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(d)
		}
		return b.Bytes()
	}
	zipped := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, data := range map[string][]byte{
		"shop/orders.bson": documents(5), "shop/orders.metadata.json": []byte(`{"options":{},"collectionName":"orders"}`),
		"shop/empty.bson": nil, "shop/a%2Fb.bson.gz": zipped(documents(3)), "shop/prelude.json": []byte(`{"ServerVersion":"7.0.2"}`),
		"shop/cut%24x.bson": documents(2), "shop/cut%24x.metadata.json": []byte(`{"collectionName":"the.whole.name"}`),
		"admin/system.version.bson": documents(1), "admin/notes.txt": []byte("nothing"),
	} {
		path := filepath.Join(dump, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	counted := func(args ...string) map[string]int64 {
		ids := map[string]int64{}
		for _, s := range censusOf(t, args...).Sources {
			ids[s.Collection] += s.IDs
		}
		return ids
	}
	shop := map[string]int64{"shop.orders": 5, "shop.empty": 0, "shop.a/b": 3, "shop.the.whole.name": 2}
	check := func(got map[string]int64, want map[string]int64, what string) {
		t.Helper()
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		for name, n := range want {
			if got[name] != n {
				t.Errorf("%s: %d ids in %s, want %d", what, got[name], name, n)
			}
		}
	}
	check(counted(filepath.Join(dump, "shop")), shop, "one database")
	t.Chdir(filepath.Join(dump, "shop"))
	check(counted("."), shop, "the folder one is in")
	shop["admin.system.version"] = 1
	check(counted(dump), shop, "the dump")
	shop[""] = 5
	check(counted(dump, "orders.bson"), shop, "the dump and a file without a collection's name")

	got := oid(t, "", "census", t.TempDir())
	if got.code != exitFailed || !strings.Contains(got.err, "has no .bson files of mongodump; name the files in it") {
		t.Errorf("an empty folder: exit code %d: %s", got.code, got.err)
	}
}
