package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
		"admin/system.version.bson": documents(1), "admin/notes.txt": []byte("6592008029c8c3e4dc762501"),
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
	shop["admin.system.version"], shop["admin/notes"] = 1, 1
	check(counted(dump), shop, "the dump")
	shop[""] = 5
	check(counted(dump, "orders.bson"), shop, "the dump and a file without a collection's name")

	// With --grep, files of metadata are read too, and BSON is refused because it is not text.
	got := oid(t, "", "census", "--grep", dump)
	if got.code != exitFailed || strings.Count(got.err, "this is BSON, not text; leave out --grep") != 4 {
		t.Errorf("--grep: exit code %d: %s", got.code, got.err)
	}
	got = oid(t, "", "census", "--format", "json", dump)
	if got.code != exitFailed || !strings.Contains(got.out, "notes.txt admin/notes") {
		t.Errorf("--format json: exit code %d: %s", got.code, got.out)
	}

	got = oid(t, "", "census", t.TempDir())
	if got.code != exitFailed || !strings.Contains(got.err, "has no files") {
		t.Errorf("an empty folder: exit code %d: %s", got.code, got.err)
	}
}

// TestCensusOfFolder counts a folder of exports, lists and logs: every file is a collection,
// and what could not be read is said. With --grep all files are judged as one.
func TestCensusOfFolder(t *testing.T) {
	folder := t.TempDir()
	const a, b, c = "65f0a0d0a1b2c3d4e5000001", "65f0a0d1a1b2c3d4e5000002", "65f0a0d2a1b2c3d4e5000003"
	var packed bytes.Buffer
	for name, text := range map[string]string{
		"orders.json": `{"_id":{"$oid":"` + a + `"}}`, "2024/orders.jsonl.gz": "", "users.csv": "_id,name\n" + b + ",x\n", "ids": a + "\n" + c + "\n",
		"empty.json": "", "logs/app.log": "GET /orders/" + c + " and no id\n", ".git/x": a, ".hidden": a,
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			w := gzip.NewWriter(&packed)
			if _, err := w.Write([]byte(`{"_id":{"$oid":"` + b + `"}}`)); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			text = packed.String()
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := oid(t, "", "census", folder)
	for _, want := range []string{
		"\n2024/orders ", "\nids ", "\norders ", "\nusers ", "\n2 collections without ids: empty, logs/app\n", "6 sources: 1 auto, 1 csv, 3 json, 1 list",
		"logs/app:\n  ! unknown format",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in %s", want, got.out)
		}
	}
	if got.code != exitFailed {
		t.Errorf("exit code %d", got.code)
	}
	if err := os.WriteFile(filepath.Join(folder, "logs", "app.1.log"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := censusOf(t, "--grep", folder)
	if r.IDs != 6 || r.DistinctIDs != 3 || len(r.Sources) != 7 || len(r.Collections) != 0 {
		t.Errorf("--grep: %d ids, %d different, %d sources, %d collections", r.IDs, r.DistinctIDs, len(r.Sources), len(r.Collections))
	}
}

// TestCensusOfServerFolder: one error says how to read the files of a server, also with --grep;
// what is beside them is read.
func TestCensusOfServerFolder(t *testing.T) {
	folder := t.TempDir()
	const file = "\x41\xd8\x01\x00\x01\x00\x00\x00\xd8\x08\x23\xb7"
	for name, text := range map[string]string{
		"data/_mdb_catalog.wt": file, "data/collection-0-2713.wt": file, "data/WiredTiger": "WiredTiger\nWiredTiger 3.2.1\n", "data/journal/WiredTigerLog.0000000006": "",
		"orders.json": `{"_id":{"$oid":"65f0a0d0a1b2c3d4e5000001"}}`,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const want = ": oid does not read this: it is data of mongod, which only a server reads: start mongod --dbpath FOLDER, and if it fails mongod --dbpath FOLDER --repair before; type: mongodump --archive | oid census\n"
	data := filepath.Join(folder, "data")
	for _, args := range [][]string{{data}, {"--grep", data}} {
		if got := oid(t, "", append([]string{"census"}, args...)...); got.code != exitFailed || got.err != "oid: "+data+want {
			t.Errorf("%v: exit code %d: %s", args, got.code, got.err)
		}
	}
	if got := oid(t, "", "census", folder); got.code != exitFailed || got.err != "oid: "+data+want || !strings.Contains(got.out, "\nids         1 ObjectId\n") {
		t.Errorf("beside an export: exit code %d: %s%s", got.code, got.out, got.err)
	}
}

// TestCensusFollowsLinks reads a folder through a link, with links to folders in it: to another folder,
// to one that is read anyway, and in a circle.
func TestCensusFollowsLinks(t *testing.T) {
	folder := t.TempDir()
	write := func(name string) {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(objectid.New().String()), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("dump/shop/orders.txt")
	write("old/users.txt")
	write("old/year/carts.txt")
	for link, to := range map[string]string{"link": "dump", "dump/latest": "shop", "dump/old": "../old", "dump/shop/old": "../../old", "dump/up": "..", "dump/year": "../old/year", "old/dump": "../dump", "old/self": "."} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dump", "link"} {
		var got []string
		for _, s := range censusOf(t, filepath.Join(folder, name)).Sources {
			got = append(got, fmt.Sprint(s.Collection, s.IDs))
		}
		if want := []string{"old/users1", "old/year/carts1", "shop/orders1"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
