package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/server/wire"
)

// dumpScript writes a dump as mongodump does, and a log. It prints how many ids each collection
// has, which it counts by reading the files again.
const dumpScript = `
import bson, json, os, re
os.makedirs("dump/shop"); os.makedirs("logs")
for name, n in (("orders", 700), ("a%2Fb", 20), ("empty", 0)):
    with open(f"dump/shop/{name}.bson", "wb") as f:
        for i in range(n):
            f.write(bson.BSON.encode({"_id": bson.ObjectId(), "n": i, "note": "x" * (i % 90)}))
    open(f"dump/shop/{name}.metadata.json", "w").write('{"options":{}}')
open("dump/prelude.json", "w").write("{}")
counts = {}
for name in ("orders", "a%2Fb", "empty"):
    counts["shop." + name.replace("%2F", "/")] = len(bson.decode_all(open(f"dump/shop/{name}.bson", "rb").read()))
with open("logs/app.log", "w") as f:
    for i in range(300):
        f.write(f"GET /orders/{bson.ObjectId()} 200\n")
counts["logs"] = len(re.findall(r"\b[0-9a-f]{24}\b", open("logs/app.log").read()))
print(json.dumps(counts))
`

// TestCensusOfContainers counts a dump and logs in every container and compression, which the
// real programs wrote.
func TestCensusOfContainers(t *testing.T) {
	t.Chdir(t.TempDir())
	sh := func(command string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "bash", "-c", "set -e -o pipefail; "+command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", dumpScript).Output()
	if err != nil {
		t.Fatal(err)
	}
	var counted map[string]int64
	if err := json.Unmarshal(out, &counted); err != nil || counted["shop.orders"] != 700 {
		t.Fatalf("%s: %v", out, err)
	}
	for _, pack := range []string{
		"tar c dump", "tar cz dump", "tar cJ dump", "tar cj dump", "tar c --zstd dump", "tar c dump | lz4", "gzip -kr dump/shop/orders.bson; rm dump/shop/orders.bson; tar c dump",
		"gunzip dump/shop/orders.bson.gz; zip -qr - dump", "tar cz dump > d.tar.gz; zip -q - d.tar.gz", "tar cf d.tar dump; tar c d.tar",
	} {
		sh("(" + pack + ") > packed")
		for _, arg := range []string{"packed", "-"} {
			got := map[string]int64{}
			stdin := ""
			if arg == "-" {
				b, err := os.ReadFile("packed")
				if err != nil {
					t.Fatal(err)
				}
				stdin = string(b)
			}
			r := oid(t, stdin, "census", "--json", arg)
			var c wire.Census
			if err := json.Unmarshal([]byte(r.out), &c); err != nil || r.code != exitDone {
				t.Fatalf("%s: exit code %d, %v: %s", pack, r.code, err, r.err)
			}
			for _, s := range c.Sources {
				got[s.Collection] += s.IDs
			}
			if want := "map[shop.a/b:20 shop.empty:0 shop.orders:700]"; fmt.Sprint(got) != want {
				t.Errorf("%s: %v, want %s", pack, got, want)
			}
		}
	}
	sh("tar cz logs > logs.tar.gz; zip -q logs.zip logs.tar.gz logs/app.log; mkdir folder; cp logs.tar.gz folder; cp logs/app.log folder; tar cz dump > dump.tar.gz")
	for arg, times := range map[string]int64{"logs.tar.gz": 1, "logs.zip": 2, "folder": 2} {
		if r := censusOf(t, "--grep", arg); r.IDs != times*counted["logs"] || r.DistinctIDs != counted["logs"] || len(r.Collections) != 0 {
			t.Errorf("--grep %s: %d ids, %d different, %d collections", arg, r.IDs, r.DistinctIDs, len(r.Collections))
		}
	}
	// What is not text is refused also in a container, and a log beside it counts.
	r := oid(t, "", "census", "--grep", "dump.tar.gz", "logs.tar.gz")
	if r.code != exitFailed || !strings.Contains(r.out, "300 ObjectIds") || !strings.Contains(r.err, "dump.tar.gz: dump/shop/orders.bson: unknown format: this is BSON, not text; leave out --grep") {
		t.Errorf("--grep of a dump: exit code %d: %s%s", r.code, r.out, r.err)
	}
	// A folder and a tar of it have the same report. No file is left out without a word, also
	// beside those of mongodump.
	sh("echo a note > dump/notes.txt; touch dump/nothing; echo 6592008029c8c3e4dc762501 > dump/shop/list; tar c dump > unknown.tar")
	var seen []string
	for _, arg := range []string{"dump", "unknown.tar"} {
		r := oid(t, "", "census", "--json", arg)
		for _, want := range []string{"dump/notes.txt: unknown format: not BSON", "dump/nothing: the source is empty"} {
			if r.code != exitFailed || !strings.Contains(r.err, want) {
				t.Errorf("%s: no %q: exit code %d: %s", arg, want, r.code, r.err)
			}
		}
		var c wire.Census
		if err := json.Unmarshal([]byte(r.out), &c); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Sources {
			// In a folder, the name of the folder is not part of the names of collections.
			collection := strings.TrimPrefix(s.Collection, "dump/")
			seen = append(seen, fmt.Sprintf("%s %d %q", collection, s.IDs, s.Error))
		}
	}
	slices.Sort(seen)
	if len(seen) != 12 || len(slices.Compact(seen)) != 6 {
		t.Errorf("a folder and a tar of it differ: %q", seen)
	}
	sh("zip -q -P secret encrypted.zip dump/shop/orders.bson logs/app.log")
	r = oid(t, "", "census", "encrypted.zip")
	if want := "encrypted.zip: dump/shop/orders.bson: oid does not read this: it is encrypted; type: unzip -p encrypted.zip dump/shop/orders.bson | oid census"; r.code != exitFailed || !strings.Contains(r.err, want) {
		t.Errorf("an encrypted zip: exit code %d: %s", r.code, r.err)
	}
}
