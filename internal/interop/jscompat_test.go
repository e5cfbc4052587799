package interop

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// compatCalls are the calls of bson-objectid that its README, its types and the comments in
// its source describe, with good and bad arguments, each as an expression. why says for what
// reason the result differs here; without it the results are equal.
var compatCalls = []struct{ call, why string }{
	// Creating ids.
	{call: `ObjectID() instanceof ObjectID`},
	{call: `new ObjectID() instanceof ObjectID`},
	{call: `ObjectID().equals(ObjectID())`},
	{call: `ObjectID(undefined).id.length`},
	{call: `ObjectID(null).id.length`},
	{call: `ObjectID(1414093117).toString().slice(0, 8)`},
	{call: `new ObjectID(1414093117).toString().slice(0, 8)`},
	{call: `ObjectID(1414093117).equals(ObjectID(1414093117))`},
	{call: `ObjectID(1414093117.9).toString().slice(0, 8)`},
	{call: `ObjectID(0).toString().slice(0, 8)`},
	{call: `ObjectID(0xffffffff).toString().slice(0, 8)`, why: "the last second of an id, in 2106, becomes that of 1970"},
	{call: `ObjectID(1414093117000).getTimestamp()`, why: "milliseconds are not seconds: the time would be of 2003"},
	{call: `ObjectID(NaN).getTimestamp()`, why: "not a time"},
	{call: `ObjectID(-1).getTimestamp()`, why: "before 1970 no id can have been created"},

	// Reading ids.
	{call: `ObjectID('54495ad94c934721ede76d90')`},
	{call: `new ObjectID('54495AD94C934721EDE76D90')`},
	{call: `ObjectID('TIZ\xd9L\x93G!\xed\xe7m\x90')`},
	{call: `new ObjectID('Rheumatology')`},
	{call: `ObjectID('Rheumatolog\u20ac').toString()`, why: "`undefined` would be a part of its digits"},
	{call: `ObjectID(bytes)`, why: "in its README and types, but refused since version 2.0.1"},
	{call: `ObjectID([...bytes.slice(1), 256])`},
	{call: `ObjectID(Array(12).fill('84'))`},
	{call: `ObjectID(Array(12).fill([84]))`},
	{call: `ObjectID(Buffer.from(bytes))`},
	{call: `new ObjectID(Buffer.from(bytes))`},
	{call: `ObjectID(Buffer.from(bytes.slice(1)))`},
	{call: `ObjectID(Uint8Array.from(bytes))`, why: "browsers have no `Buffer`"},
	{call: `ObjectID('tttttttttttttttttttttttt')`},
	{call: `ObjectID('54495ad94c934721ede76d9')`},
	{call: `ObjectID('')`},
	{call: `ObjectID(true)`},
	{call: `ObjectID({})`},
	{call: `ObjectID(JSON.parse('{"_bsontype": "ObjectID", "payload": 1}'))`, why: "CVE-2019-19729: a request's object became an id"},
	{call: `ObjectID({ id: 'Rheumatology', toHexString: () => '<script>' })`, why: "the same, by a function"},
	{call: `ObjectID(id) === id`},
	{call: `new ObjectID(id) === id`},
	{call: `ObjectID(new bson.ObjectId('54495ad94c934721ede76d90')) instanceof ObjectID`, why: "bson's own object has other methods"},

	// Static methods.
	{call: `ObjectID.createFromTime(1414093117)`},
	{call: `ObjectID.createFromTime(0)`},
	{call: `ObjectID.createFromTime('1414093117')`},
	{call: `ObjectID.createFromTime(-1)`},
	{call: `ObjectID.createFromTime(new Date(0))`},
	{call: `ObjectID.createFromTime(1414093117000)`, why: "milliseconds are not seconds"},
	{call: `ObjectID.createFromHexString('54495ad94c934721ede76d90')`},
	{call: `ObjectID.createFromHexString('54495AD94C934721EDE76D90')`},
	{call: `ObjectID.createFromHexString('tttttttttttttttttttttttt')`, why: "other text became the id of zeros"},
	{call: `ObjectID.createFromHexString('Rheumatology')`},
	{call: `ObjectID.createFromHexString()`},
	{call: `ObjectID.isValid('54495ad94c934721ede76d90')`},
	{call: `ObjectID.isValid('54495-ad94c934721ede76d9')`},
	{call: `ObjectID.isValid('Rheumatology')`},
	{call: `ObjectID.isValid('')`},
	{call: `ObjectID.isValid(id)`},
	{call: `ObjectID.isValid(new bson.ObjectId())`},
	{call: `ObjectID.isValid(Buffer.from(bytes))`},
	{call: `ObjectID.isValid(Buffer.from('hello'))`},
	{call: `ObjectID.isValid(1414093117)`},
	{call: `ObjectID.isValid(NaN)`, why: "as `ObjectID(NaN)`"},
	{call: `ObjectID.isValid(bytes)`, why: "as `ObjectID(bytes)`"},
	{call: `[undefined, null, true, {}, [], () => 1].map(ObjectID.isValid)`},
	{call: `ObjectID.isValid(JSON.parse('{"_bsontype": "ObjectID", "payload": 1}'))`},
	{call: `ObjectID.isValid({ id: 'Rheumatology', toHexString: () => '<script>' })`, why: "CVE-2019-19729"},

	// Methods and properties of an id.
	{call: `id.id`},
	{call: `id.str`, why: "`str` is in its README and types only"},
	{call: `typeof ObjectID(Buffer.from(bytes)).id`, why: "a text, as its types say, and not at times a `Buffer`"},
	{call: `id.toHexString()`},
	{call: `id.toString()`},
	{call: `id.toJSON()`},
	{call: `JSON.stringify({ id })`},
	{call: "`${id}`"},
	{call: `id.getTimestamp()`},
	{call: `ObjectID('800000000000000000000000').getTimestamp()`, why: "times after 2038"},
	{call: `id.equals(ObjectID('54495AD94C934721EDE76D90'))`},
	{call: `id.equals(ObjectID(Buffer.from(bytes)))`},
	{call: `id.equals('54495AD94C934721EDE76D90')`},
	{call: `id.equals('TIZ\xd9L\x93G!\xed\xe7m\x90')`},
	{call: `id.equals(new bson.ObjectId('54495ad94c934721ede76d90'))`},
	{call: `[undefined, null, 5, '', {}, [], 'Rheumatology', ObjectID()].map((other) => id.equals(other))`},
	{call: `id.equals(JSON.parse('{"toHexString": 1}'))`, why: "an object of a request ends no request"},
	{call: `id.generate().length`},
	{call: `id.generate(1414093117).slice(0, 4)`},
	{call: `util.inspect(id)`},

	// What programs do with ids beside.
	{call: `[ObjectID.createFromTime(2), ObjectID.createFromTime(1)].sort().map(String)`},
	{call: `ObjectID.createFromTime(1) < ObjectID.createFromTime(2)`},
	{call: `util.isDeepStrictEqual(id, ObjectID('54495AD94C934721EDE76D90'))`},
	{call: `util.isDeepStrictEqual(id, ObjectID(Buffer.from(bytes)))`, why: "equal ids are equal"},
	{call: `util.isDeepStrictEqual(id, ObjectID())`},
	{call: `new Map([[String(id), 1]]).get(String(ObjectID(id)))`},
	{call: `id._bsontype`},
	{call: `[id.constructor === ObjectID, ObjectID.name, ObjectID.length, ObjectID.default === ObjectID]`},
	{call: `Object.keys(id)`, why: "`id.id` and `id._bsontype` are there; copies by `structuredClone` or `{ ...id }` are no ids in either: send `String(id)`"},
	{call: `new bson.ObjectId(id)`},
	{call: `bson.ObjectId.isValid(id)`},
	{call: `new bson.ObjectId('54495ad94c934721ede76d90').equals(id)`},
	{call: `bson.serialize({ id })`},
	{call: `[...bson4.serialize({ id })]`},
	{call: `[class Mine extends ObjectID {}].map((Mine) => new Mine() instanceof Mine)`},
}

// compatResults evaluates the calls with the ObjectID that an expression of JavaScript has.
func compatResults(t *testing.T, source string) []string {
	t.Helper()
	calls := make([]string, len(compatCalls))
	for i, c := range compatCalls {
		calls[i] = c.call
	}
	packages := map[string]string{
		"bson": testenv.NodeModules(t, "bson", "7.3.4"), "bson-objectid": testenv.NodeModules(t, "bson-objectid", "2.0.4"),
	}
	program := `
import { createRequire } from 'node:module'
import util from 'node:util'
import * as bson from 'bson'
const require = createRequire(import.meta.url)
const bson4 = require(` + testenv.Must(quoted(filepath.Join(testenv.NodeModules(t, "bson", "4.7.2"), "bson")))(t) + `)
` + source + `
const id = ObjectID('54495ad94c934721ede76d90')
const bytes = [84, 73, 90, 217, 76, 147, 71, 33, 237, 231, 109, 144]
console.log(JSON.stringify(` + testenv.Must(quoted(calls))(t) + `.map((call) => {
  let value
  try {
    value = new Function('ObjectID', 'id', 'bson', 'bson4', 'util', 'bytes', 'return ' + call)(ObjectID, id, bson, bson4, util, bytes)
  } catch (e) {
    if (!(e instanceof Error)) throw e
    return 'an error'
  }
  return util.inspect(value, { breakLength: Infinity, depth: 1 })
})))
`
	var results []string
	testenv.NoError(t, json.Unmarshal([]byte(node(t, program, packages)), &results))
	return results
}

func quoted(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

// Each call has the result that it has in bson-objectid, or is in the table of the page with
// the reason; as CommonJS and as a module for browsers.
func TestJavaScriptCompat(t *testing.T) {
	want := compatResults(t, "const ObjectID = require('bson-objectid')")
	got := compatResults(t, "import ObjectID from '@oidkit/objectid/compat'")
	file := testenv.Must(quoted("file://" + testenv.Must(filepath.Abs(library+"compat.js"))(t)))(t)
	for kind, results := range map[string][]string{
		"require":     compatResults(t, "const ObjectID = require('@oidkit/objectid/compat')"),
		"for browser": compatResults(t, "import ObjectID from "+file),
	} {
		for i, result := range results {
			if result != got[i] {
				t.Errorf("%s: %s is %s, by import %s", kind, compatCalls[i].call, result, got[i])
			}
		}
	}
	var table strings.Builder
	equal := 0
	for i, c := range compatCalls {
		switch same := got[i] == want[i]; {
		case same && c.why != "":
			t.Errorf("%s is %s in both, and has a reason why not: %s", c.call, got[i], c.why)
		case same:
			equal++
		case c.why == "":
			t.Errorf("%s is %s, in bson-objectid %s", c.call, got[i], want[i])
		default:
			fmt.Fprintf(&table, "| `%s` | `%s` | `%s` | %s |\n", c.call, want[i], got[i], c.why)
		}
	}
	head := fmt.Sprintf("Of %d calls that were run with both packages, %d have equal results. These %d differ on purpose:\n\n"+
		"| call | bson-objectid | compat | why |\n|---|---|---|---|\n", len(compatCalls), equal, len(compatCalls)-equal)
	const page, begin, end = "docs/how-to/from-bson-objectid.md", "<!-- calls, by make generated -->\n", "<!-- end of calls -->\n"
	text := testenv.Must(os.ReadFile("../../" + page))(t)
	before, rest, _ := strings.Cut(string(text), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no place for the calls", page)
	}
	generated(t, page, before+begin+head+strings.ReplaceAll(table.String(), "`an error`", "an error")+end+after)
}

// Errors say what is wanted and what came, in few characters.
func TestJavaScriptCompatErrors(t *testing.T) {
	node(t, `
import assert from 'node:assert/strict'
import ObjectID from '@oidkit/objectid/compat'
const wanted = 'objectid: want 24 hexadecimal digits, 12 bytes, seconds or an ObjectID: '
for (const [value, came] of [['x', '"x"'], ['', '""'], ['\n', '"\\n"'], ['z'.repeat(1e6), '"' + 'z'.repeat(40) + '"'], [{}, 'object'], [{ toHexString: 1 }, 'object'], [true, 'boolean'],
  [Symbol('x'), 'symbol'], [() => 1, 'function'], [{ toString: null, valueOf: null }, 'object'], [new Date(), 'object']]) {
  assert.throws(() => ObjectID(value), { name: 'TypeError', message: wanted + came })
  assert.throws(() => ObjectID.createFromHexString(value), { name: 'TypeError', message: wanted + came })
}
assert.throws(() => ObjectID.createFromHexString(), { name: 'TypeError', message: wanted + 'undefined' })
assert.throws(() => ObjectID.createFromHexString(null), { name: 'TypeError', message: wanted + 'object' })
for (const [time, came] of [[-1, '-1'], [NaN, 'NaN'], [2 ** 32, '4294967296'], [1414093117000, '1414093117000'], [Infinity, 'Infinity']]) {
  assert.throws(() => ObjectID(time), { name: 'RangeError', message: 'objectid: want seconds from 1970 to 2106, not milliseconds: ' + came })
  assert.throws(() => ObjectID.createFromTime(time), { name: 'RangeError', message: 'objectid: want seconds from 1970 to 2106, not milliseconds: ' + came })
}
assert.throws(() => ObjectID.createFromTime('x'.repeat(1e6)), { message: 'objectid: want seconds from 1970 to 2106, not milliseconds: ' + 'x'.repeat(40) })
`, nil)
}

// All tests of bson-objectid pass with compat, except one: it wants an object without an id to be
// valid.
func TestJavaScriptCompatPassesTheTestsOfBSONObjectID(t *testing.T) {
	theirs := filepath.Join(testenv.NodeModules(t, "bson-objectid", "2.0.4"), "bson-objectid", "test", "test.js")
	tests := string(testenv.Must(os.ReadFile(theirs))(t))
	const refused = `it("should use Buffer when _Buffer is undefined"`
	if strings.Count(tests, "it(") != 20 || !strings.Contains(tests, refused) || !strings.Contains(tests, `require("../")`) {
		t.Fatalf("%s is another than that of version 2.0.4", theirs)
	}
	tests = strings.Replace(tests, refused, strings.Replace(refused, "it(", "it.skip(", 1), 1)
	tests = strings.Replace(tests, `require("../")`, `require("@oidkit/objectid/compat")`, 1)
	dir := project(t, map[string]string{"theirs.test.cjs": "const { describe, it } = require('node:test')\n" + tests})
	cmd := exec.CommandContext(t.Context(), testenv.Program(t, "node", "nodejs"), "--test-reporter", "tap", "theirs.test.cjs")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "NODE_PATH="+testenv.NodeModules(t, "should", "4.6.5"))
	if out := testenv.Run(t, cmd); !strings.Contains(out, "# pass 19\n") || !strings.Contains(out, "# fail 0\n") {
		t.Error(out)
	}
}

// Whatever a request or a program hands over, the result is an id of 24 digits or an error, and
// isValid and equals throw none.
func TestJavaScriptCompatIsStrict(t *testing.T) {
	for seed := range 5 {
		node(t, fmt.Sprintf("let state = %d", seed+1)+`
import assert from 'node:assert/strict'
import ObjectID from '@oidkit/objectid/compat'
const below = (n) => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8) % n
const one = (...of) => of[below(of.length)]()
const digits = () => Array.from({ length: one(() => 24, () => 12, () => below(30)) }, () => 'aF0z\u20ac\xff'[below(below(9) ? 3 : 6)]).join('')
const values = () => Array.from({ length: one(() => 12, () => below(20)) }, () => below(9) ? below(256) : value())
const keys = ['_bsontype', 'id', 'hex', 'toHexString', 'toString', 'valueOf', 'toJSON', 'constructor', '__proto__', 'prototype', 'length', 'type', 'data', '0']
const object = () => Object.fromEntries(Array.from({ length: below(5) }, () => [keys[below(keys.length)], below(5) ? value() : 'ObjectID']))
const json = (make) => JSON.parse(JSON.stringify(make()))
const value = () => one(digits, () => below(3) - 1, () => null, () => true, object, values)
const always = (value) => () => value
const more = () => one(
  () => json(object), () => json(values), () => json(value), digits, value, () => undefined, () => Symbol('x'), () => 5n, () => value,
  () => ({ ...object(), toHexString: always(value()) }), () => ({ toHexString() { throw new Error('no') } }), () => Object.create(null), () => Uint8Array.from({ length: below(20) }, () => below(256)),
  () => Buffer.from(digits()), () => new DataView(new ArrayBuffer(12)), () => new Array(12), () => new String(digits()), () => new Date(0), () => new Float64Array(12).fill(below(3) / 2),
  () => below(2 ** 31) * 1000 * (below(3) - 1), () => NaN, () => Infinity, () => Object.assign(Object.create({ toHexString: always(digits()) }), object()), () => ObjectID())
const id = ObjectID()
let read = 0
for (let i = 0; i < 20000; i++) {
  const given = more()
  let got
  try {
    got = ObjectID(given)
    assert.ok(got instanceof ObjectID)
    assert.match(got.toHexString(), /^[\da-f]{24}$/)
    assert.equal(got.id.length, 12)
    assert.ok(got.equals(ObjectID(got.id)))
    read++
  } catch (e) {
    assert.ok(e instanceof Error && e.name !== 'AssertionError' && e.message.length < 200, e)
  }
  assert.equal(ObjectID.isValid(given), got !== undefined && given != null)
  if (typeof given?.toHexString !== 'function') assert.equal(typeof id.equals(given), 'boolean')
}
assert.ok(read > 1000 && read < 15000, String(read))
`, nil)
	}
}

// bson takes ids of compat where it takes those of bson-objectid; otherwise it refuses them, until
// they are marked.
func TestJavaScriptCompatWithBSON(t *testing.T) {
	for _, version := range []string{"4.7.2", "5.5.1", "6.10.4", "7.3.4"} {
		t.Run(version, func(t *testing.T) {
			node(t, `
import assert from 'node:assert/strict'
import * as bson from 'bson'
import Old from 'bson-objectid'
import { ObjectId } from '@oidkit/objectid'
import { markForBSON } from '@oidkit/objectid/bson'
import ObjectID from '@oidkit/objectid/compat'
const text = '54495ad94c934721ede76d90'
const theirs = new bson.ObjectId(text)
const ids = [ObjectID(text), ObjectID(theirs), ObjectID(Buffer.from(text, 'hex'))]
const ways = (id) => [() => bson.serialize({ id, list: [{ id }] }), () => bson.calculateObjectSize({ id }), () => bson.EJSON.stringify({ id })]
const outcome = (way) => {
  try {
    return way()
  } catch (e) {
    return e.message
  }
}
const wanted = ways(Old(text)).map(outcome)
for (const id of ids) assert.deepEqual(ways(id).map(outcome), wanted)
assert.equal(typeof wanted[0], '`+version+`'[0] === '4' ? 'object' : 'string')
markForBSON(bson.ObjectId)
for (const id of ids) {
  assert.deepEqual(ways(id).map(outcome), ways(theirs).map(outcome))
  assert.ok(bson.deserialize(bson.serialize({ id })).id.equals(id))
  assert.ok(theirs.equals(id) && id.equals(theirs) && new bson.ObjectId(id).equals(theirs) && bson.ObjectId.isValid(id) && id.equals(new ObjectId(text)))
  assert.equal(id.id, 'TIZ\xd9L\x93G!\xed\xe7m\x90')
}
assert.ok(ObjectID(theirs) instanceof ObjectID && ObjectID.isValid(theirs))
assert.throws(() => ObjectID(JSON.parse('{"_bsontype": "ObjectID", "id": "Rheumatology"}')))
`, map[string]string{"bson": testenv.NodeModules(t, "bson", version), "bson-objectid": testenv.NodeModules(t, "bson-objectid", "2.0.4")})
		})
	}
}

// mongoose makes ids of its own class of those of compat, where the schema says ObjectId.
func TestJavaScriptCompatWithMongoose(t *testing.T) {
	for name, packages := range drivers(t) {
		t.Run(name, func(t *testing.T) {
			node(t, `
import assert from 'node:assert/strict'
import mongoose from 'mongoose'
import ObjectID from '@oidkit/objectid/compat'
const { ObjectId } = mongoose.Schema.Types
const Model = mongoose.model('Model', new mongoose.Schema({ _id: { type: ObjectId, default: () => ObjectID() }, owner: ObjectId, list: [ObjectId] }))
const id = ObjectID()
const doc = new Model({ owner: id, list: [id] })
assert.equal(doc.validateSync(), undefined)
for (const cast of [doc._id, doc.owner, doc.list[0]]) assert.ok(cast instanceof mongoose.Types.ObjectId)
assert.ok(doc.owner.equals(id) && id.equals(doc.owner) && mongoose.isValidObjectId(id) && ObjectID(doc.owner).equals(id))
const filter = Model.find({ _id: id, owner: { $in: [id] } }).cast(Model)
assert.ok(filter._id instanceof mongoose.Types.ObjectId && filter.owner.$in[0].equals(id))
`, packages)
		})
	}
}

// The drop-in takes less than 1,700 bytes with what it imports, minified and compressed, and
// the page has the sizes.
func TestJavaScriptCompatIsSmall(t *testing.T) {
	n := bundled(t, "default", library+"compat.js")
	if n >= 1700 {
		t.Errorf("%d bytes", n)
	}
	theirs := bundled(t, "default", filepath.Join(testenv.NodeModules(t, "bson-objectid", "2.0.4"), "bson-objectid", "objectid.js"))
	bson := bundled(t, "ObjectId", filepath.Join(testenv.NodeModules(t, "bson", "7.3.4"), "bson", "lib", "bson.mjs"))
	want := fmt.Sprintf("it takes %.1f KB in a browser, minified and compressed, instead of %.1f KB; bson takes %.0f KB", float64(n)/1000, float64(theirs)/1000, float64(bson)/1000)
	if page := testenv.Must(os.ReadFile(compatPage))(t); !bytes.Contains(page, []byte(want)) {
		t.Errorf("%s does not say: %s", compatPage, want)
	}
}

// bundled returns the size of a bundle for browsers that has one export of a module.
func bundled(t *testing.T, name, file string) int {
	t.Helper()
	program := filepath.Join(testenv.NodeModules(t, "esbuild", "0.28.2"), "esbuild", "bin", "esbuild")
	cmd := exec.CommandContext(t.Context(), "node", program, "--bundle", "--minify", "--format=esm")
	cmd.Stdin = strings.NewReader("export { " + name + " } from '" + testenv.Must(filepath.Abs(file))(t) + "'")
	minified := testenv.Must(cmd.Output())(t)
	var small bytes.Buffer
	w, _ := gzip.NewWriterLevel(&small, gzip.BestCompression)
	testenv.Must(w.Write(minified))(t)
	testenv.NoError(t, w.Close())
	t.Logf("%d bytes", small.Len())
	return small.Len()
}

// The types fit what people write with those of bson-objectid, however TypeScript looks for
// modules, and refuse what is not documented.
func TestJavaScriptCompatTypes(t *testing.T) {
	modules := testenv.NodeModules(t, "typescript", "5.9.2")
	dir := t.TempDir()
	testenv.NoError(t, os.MkdirAll(filepath.Join(dir, "node_modules/@oidkit"), 0o755))
	testenv.NoError(t, os.CopyFS(filepath.Join(dir, "node_modules/@oidkit/objectid"), os.DirFS(library)))
	const use = `
let id: ObjectID = new ObjectID()
for (const other of [ObjectID(), ObjectID(1414093117), ObjectID('54495ad94c934721ede76d90'), ObjectID([84, 73]), new ObjectID(1414093117),
  new ObjectID('Rheumatology'), new ObjectID([84, 73]), new ObjectID(new Uint8Array(12)), new ObjectID(id),
  ObjectID.createFromTime(1414093117), ObjectID.createFromHexString('54495ad94c934721ede76d90')]) id = other
const texts: string[] = [id.id, id.str, id.toString(), id.toHexString(), id.toJSON(), id.generate(5), ObjectID.toString()]
const bool: boolean = id.equals(new ObjectID(id.str)) && id.equals(id.str) && ObjectID.isValid(id.str) && ObjectID.isValid(id) && id instanceof ObjectID
const time: Date = id.getTimestamp()
const Class = 'default' in ObjectID ? ObjectID.default : ObjectID
const made: ObjectID = new Class()
export { texts, bool, time, made }
// @ts-expect-error
id.id = ''
// @ts-expect-error
ObjectID(true)
// @ts-expect-error
ObjectID({})
// @ts-expect-error
ObjectID.createFromHexString(5)
`
	const imported, required = "import ObjectID from '@oidkit/objectid/compat'\n", "import ObjectID = require('@oidkit/objectid/compat')\n"
	for name, head := range map[string]string{"a.mts": imported, "b.cts": imported, "c.cts": required, "d.ts": imported} {
		testenv.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(head+use), 0o644))
	}
	for _, arguments := range []string{
		"--module nodenext a.mts b.cts", "--module node16 a.mts c.cts", "--module esnext --moduleResolution bundler d.ts",
		"--module commonjs --moduleResolution node10 --esModuleInterop false d.ts", // before there were exports
	} {
		t.Run(arguments, func(t *testing.T) {
			tsc := exec.CommandContext(t.Context(), "node", append([]string{
				filepath.Join(modules, "typescript", "bin", "tsc"),
				"--noEmit", "--strict", "--lib", "es2022", "--target", "es2022",
			}, strings.Fields(arguments)...)...)
			tsc.Dir = dir
			testenv.Run(t, tsc)
		})
	}
}
