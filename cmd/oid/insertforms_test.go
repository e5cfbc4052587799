package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// TestInsertForms stores documents in the forms in which other programs write them: pymongo as
// mongoexport and mongodump do, jq and gzip. All are found again, and pymongo counts them.
func TestInsertForms(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import bson").Run() != nil {
		testenv.Missing(t, "python3-bson is not installed: apt-get install python3-bson")
	}
	dir := t.TempDir()
	t.Setenv("OID_STORE", "sqlite:"+filepath.Join(dir, "s.db"))
	cmd := exec.Command("sh", "-ec", python+` - <<'END'
import bson, datetime
from bson import ObjectId, json_util
docs = [{"_id": ObjectId("6592008029c8c3e4dc%06x" % i), "at": datetime.datetime(2024, 1, 1), "n": bson.Int64(i), "text": "it's [{\n\"", "list": [1, {"x": None}]} for i in range(3000)]
dumps = lambda d, **o: json_util.dumps(d, json_options=json_util.CANONICAL_JSON_OPTIONS, **o)
open("lines.json", "w").write("".join(dumps(d) + "\n" for d in docs))
open("array.json", "w").write(dumps(docs))
open("compass.json", "w").write(dumps(docs, indent=2))
open("docs.bson", "wb").write(b"".join(bson.encode(d) for d in docs))
END
jq . lines.json > pretty.json
jq -s . lines.json > array-of-jq.json
gzip -k array.json docs.bson
zstd -q lines.json`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := ""
	for _, name := range []string{"lines.json", "array.json", "compass.json", "docs.bson", "pretty.json", "array-of-jq.json", "array.json.gz", "docs.bson.gz", "lines.json.zst"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got := oid(t, string(data), "insert", name)
		if got.code != exitDone || strings.Count(got.out, "\n") != 3000 {
			t.Errorf("%s: %d, %s", name, got.code, got.err)
			continue
		}
		found := oid(t, "", "find", name).out
		if want == "" {
			want = found
			count := exec.Command(python, "-c", `
import sys
from bson import ObjectId, json_util
docs = [json_util.loads(l) for l in sys.stdin]
assert [d["_id"] for d in docs] == [ObjectId("6592008029c8c3e4dc%06x" % i) for i in range(3000)] and docs[7]["n"] == 7 and docs[7]["text"] == "it's [{\n\""`)
			count.Stdin = strings.NewReader(found)
			if out, err := count.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		if found != want {
			t.Errorf("%s: other documents than from lines.json", name)
		}
	}
}

// TestInsertUnreadable holds that nothing is stored without a word of what was not: the number of the
// document that is refused, how many were stored before the input ended, or what to do with it.
func TestInsertUnreadable(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("OID_STORE", "sqlite:"+filepath.Join(dir, "s.db"))
	doc := "\x0e\x00\x00\x00\x10_id\x00\x07\x00\x00\x00\x00"
	for name, test := range map[string]struct{ in, out, err string }{
		"array":        {`[{"_id":1},{"_id":1},7,{"_id":2}]`, "1\n2\n", "oid: document 2: duplicate _id: 1\noid: document 3: not a JSON object\n"},
		"cutArray":     {`[{"_id":1},{"_id":2},{"_id":`, "1\n2\n", "oid: stopped at byte 21: the JSON document does not end: unexpected EOF; documents stored before this error: 2\n"},
		"cutBSON":      {doc + doc[:9], "7\n", "oid: stopped at byte 14: the input ends within a document: 9 of its 14 bytes are there: unexpected EOF; documents stored before this error: 1\n"},
		"shell":        {"/* 1 */\n{\n \"_id\" : ObjectId(\"6592008029c8c3e4dc762501\")\n}\n", "", "oid: document 1: not JSON: invalid character 'O' looking for beginning of value; this is the notation of a shell: write Extended JSON, with mongoexport or with EJSON.stringify() in mongosh\n"},
		"archive":      {"\x6d\xe2\x99\x81" + doc, "", "oid: unknown format: this is an archive of mongodump, which may have several collections; restore it with mongorestore; documents stored before this error: 0\n"},
		"brokenFirst":  {"{\n{\"_id\":3}\n", "3\n", "oid: line 1: not JSON: unexpected end of JSON input\n"},
		"severalLines": {"{\n\"_id\":3\n}\n{\"_id\":4}\n", "3\n4\n", ""},
	} {
		got := oid(t, test.in, "insert", name)
		if got.out != test.out || got.err != test.err || (got.code == exitDone) != (test.err == "") {
			t.Errorf("%s: %+v, want %+v", name, got, test)
		}
	}
	if got := oid(t, "["+strings.Repeat("{},", 20_000)+"7]", "insert", "many"); got.err != "oid: document 20001: not a JSON object\n" {
		t.Errorf("after many documents: %.200s", got.err)
	}
	if got := oid(t, "", "insert", "argument", `[{"_id":1},{"_id":2}]`); got.code != exitDone || got.out != "1\n2\n" {
		t.Errorf("an array as an argument: %+v", got)
	}
}
