package inspect_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/testenv"
)

// printers print the id hex, in one notation after the other, with a line -- between them, or each on one line.
var printers = []struct {
	program, packages string
	args              []string
	notations         int
}{
	{"node", "nodejs", []string{"-e", `
const b = Buffer.from(id, "hex"), list = [
	b, JSON.stringify(b), JSON.stringify({ _id: b, n: 1 }), { _id: b, n: 1 }, new Uint8Array(b), JSON.stringify([...b]), String([...b]), b.toString("base64"),
	encodeURIComponent('"' + id + '"'), escape("\u2019" + id), JSON.stringify("\u0001" + id), JSON.stringify("\b" + id)]
for (const item of list) { console.log(item); console.log("--") }`}, 12},
	{"node", "bson", []string{"-e", `
const { ObjectId, EJSON, Binary } = require("bson"), i = new ObjectId(id), util = require("util"), list = [
	i, util.inspect(i, { colors: true }), String(i), JSON.stringify(i), EJSON.stringify(i), EJSON.stringify({ _id: i }, { relaxed: false }), { _id: i, n: 1 }, [i],
	util.inspect({ _id: i }, { colors: true }), EJSON.stringify(new Binary(i.id)), "order " + util.inspect(new Binary(Buffer.from(i.id)).buffer) + " failed", i.toString("base64")]
for (const item of list) { console.log(item); console.log("--") }`}, 12},
	{"php", "php-cli php-mongodb", []string{"-r", `
$i = new MongoDB\BSON\ObjectId($id);
foreach ([$i, ["_id" => $i]] as $x) { print_r($x); echo "\n--\n"; var_export($x); echo "\n--\n", json_encode($x), "\n--\n", serialize($x), "\n--\n"; }
var_dump($i);`}, 9},
	{"ruby", "ruby ruby-bson", []string{"-rbson", "-rjson", "-e", `
i = BSON::ObjectId.from_string(id)
[i.inspect, i, i.to_json, i.as_extended_json.to_json, { _id: i }.inspect, { "_id" => i }.to_json, [i].inspect, i.to_bson.to_s.unpack("C*").inspect].each { |x| puts x, "--" }`}, 8},
	{"/usr/bin/python3", "python3-bson", []string{"-c", `
import bson, pprint, quopri
from bson import json_util
i = bson.ObjectId(id)
binary = bson.Binary(i.binary)
for x in [i, repr(i), i.binary, list(i.binary), i.binary.hex(" "), i.binary.hex(":"), {"_id": i}, pprint.pformat({"_id": i, "n": 1}), json_util.dumps(i), json_util.dumps({"_id": i}),
		json_util.dumps({"_id": binary}), json_util.dumps({"_id": binary}, json_options=json_util.CANONICAL_JSON_OPTIONS), quopri.encodestring(("=" * 20 + id).encode()).decode()]:
	print(x, end="\n--\n")`}, 13},
	{"java", "default-jdk-headless libmongodb-java", []string{"-cp", "/usr/share/java/bson.jar", "testdata/Ids.java"}, 7},
	{"jq", "jq", []string{"-cn", `{_id: {"$oid": $id}, n: 1}, $id, [$id], ("\u0001" + $id), ($id | @uri), ({_id: $id} | tojson)`}, 6},
}

// TestPrograms reads an id as the programs of this machine print it.
func TestPrograms(t *testing.T) {
	for _, p := range printers {
		t.Run(p.packages, func(t *testing.T) {
			cmd := exec.Command(testenv.Program(t, p.program, p.packages), p.args...)
			cmd.Env = append(cmd.Environ(), "JAVA_TOOL_OPTIONS=")
			switch last := len(cmd.Args) - 1; p.program {
			case "node":
				cmd.Args[last] = "const id = '" + hex + "';" + cmd.Args[last]
				if p.packages == "bson" {
					cmd.Env = append(cmd.Env, "NODE_PATH="+testenv.NodeModules(t, "bson", "7.3.4"))
				}
			case "php":
				cmd.Args[last] = "$id = '" + hex + "';" + cmd.Args[last]
			case "ruby", "/usr/bin/python3":
				cmd.Args[last] = "id = '" + hex + "'\n" + cmd.Args[last]
			case "java":
				testenv.Long(t, "compiles Java")
			case "jq":
				cmd.Args = append(cmd.Args, "--arg", "id", hex)
			}
			out, err := cmd.Output()
			testenv.NoError(t, err)
			separator := "\n"
			if strings.Contains(string(out), "\n--\n") {
				separator = "\n--\n"
			}
			texts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(string(out), "--\n"), "\n"), separator)
			for _, text := range texts {
				var got []string
				for f, err := range inspect.Scan(strings.NewReader(text)) {
					if _, wrong := inspect.Inspect(f.Text, nil); err == nil && wrong == nil { // a word may be no id
						got = append(got, f.Text)
					} else if err != nil && !errors.Is(err, inspect.ErrNoID) {
						got = append(got, err.Error())
					}
				}
				if len(got) != 1 || got[0] != hex {
					t.Errorf("Scan(%q): %q", text, got)
				}
			}
			if len(texts) != p.notations {
				t.Errorf("%d notations, want %d: %q", len(texts), p.notations, texts)
			}
		})
	}
}
