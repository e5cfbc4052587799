package interop

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

const library = "../../js/"

// node runs a module of JavaScript in a folder where @oidkit/objectid is installed, beside
// other packages of npm by the folders that they are in, and returns its output.
func node(t *testing.T, source string, packages map[string]string) string {
	t.Helper()
	program := testenv.Program(t, "node", "nodejs")
	ours := testenv.Must(filepath.Abs(library))(t)
	dir := t.TempDir()
	link := func(name, to string) {
		at := filepath.Join(dir, "node_modules", name)
		testenv.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		testenv.NoError(t, os.Symlink(to, at))
	}
	link("@oidkit/objectid", ours)
	for name, folder := range packages {
		link(name, filepath.Join(folder, name))
	}
	file := filepath.Join(dir, "main.mjs")
	testenv.NoError(t, os.WriteFile(file, []byte(source), 0o644))
	return testenv.Run(t, exec.CommandContext(t.Context(), program, file))
}

const checks = `
import { ObjectId } from '@oidkit/objectid'
import assert from 'node:assert/strict'
`

// Texts are read as by Parse in Go, and nothing else is.
func TestJavaScriptParses(t *testing.T) {
	node(t, checks+`
const text = '507F1f77bcf86cd799439011'
const id = new ObjectId(text)
assert.equal(id.hex, text.toLowerCase())
assert.equal(String(id), id.hex)
assert.equal(id.toHexString(), id.hex)
assert.equal(JSON.stringify({ id }), '{"id":"' + id.hex + '"}')
assert.equal(id.getTimestamp().toISOString(), '2012-10-17T21:13:27.000Z')
assert.equal(new ObjectId('f'.repeat(24)).getTimestamp().toISOString(), '2106-02-07T06:28:15.000Z')
assert.deepEqual(id, new ObjectId(text))
assert.notDeepEqual(id, ObjectId.generate())
assert.ok(id.equals(new ObjectId(text)) && !id.equals(ObjectId.generate()) && !id.equals(null) && !id.equals(undefined))
for (const bad of [undefined, null, 5, '', text + '0', text.slice(1), text + '\n', 'g' + text.slice(1), 'Rheumatology',
  [text], id, {}, Symbol('x'), new Uint8Array(12), ' ' + text.slice(1)])
  assert.throws(() => new ObjectId(bad), { name: 'TypeError', message: /want 24 hexadecimal digits/ })
assert.throws(() => new ObjectId(), TypeError)
`, nil)
}

// Bounds are those of Go, also for times that do not fit.
func TestJavaScriptBoundsAreThoseOfGo(t *testing.T) {
	var source, want strings.Builder
	source.WriteString(checks)
	for _, ms := range []int64{-1, 0, 1, 999, 1000, 1001, 1350508407000, 1350508407500, 1 << 41, 4294967295000} {
		at := time.UnixMilli(ms)
		fmt.Fprintf(&source, "console.log(`${ObjectId.at(%d)} ${ObjectId.between(new Date(%d), %d).$gte} ${ObjectId.between(0, %d).$lt}`)\n", ms, ms, ms, ms+1)
		fmt.Fprintf(&want, "%v %v %v\n", objectid.MinAt(at), objectid.MinAt(at), goUpper(ms+1))
	}
	source.WriteString("assert.throws(() => ObjectId.at(NaN), TypeError)\nassert.throws(() => ObjectId.between(0, new Date('soon')), TypeError)\n")
	if got := node(t, source.String(), nil); got != want.String() {
		t.Errorf("got\n%swant\n%s", got, want.String())
	}
}

// goUpper is the bound that includes every id created before ms; the smallest id of the last
// second for times that do not fit.
func goUpper(ms int64) objectid.ID {
	return objectid.MinAt(time.UnixMilli(ms + 999).Truncate(time.Second))
}

// almostFull lets the counter start two before its overflow.
const almostFull = checks + `
Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues: (a) => a.fill(0xfffffffd) } })
let now = 0
Date.now = () => now
`

// Ids increase and never repeat when the counter overflows, and under any clock.
func TestJavaScriptIncreasesUnderAnyClock(t *testing.T) {
	node(t, almostFull+`
const hour = 3600e3
const ids = []
const take = (n) => { for (let i = 0; i < n; i++) ids.push(ObjectId.generate()) }
now = hour
take(4)
assert.deepEqual(ids.map((id) => id.hex.slice(0, 8) + ' ' + id.hex.slice(18)), ['00000e10 fffffe', '00000e10 ffffff', '00000e11 000000', '00000e11 000001'])
for (now of [hour + 1000, hour + 1999, hour + 2000, 0, -hour, NaN, 2 * hour, 2 ** 31 * 1000, 2 ** 31 * 1000 - 1, (2 ** 32 - 1) * 1000, 2 ** 33 * 1000]) take(100)
assert.ok(ids.every((id, i) => i === 0 || ObjectId.compare(ids[i - 1], id) < 0))
assert.ok(ids.every((id) => id.hex.slice(8, 18) === 'fffffffdff'))
assert.equal(ids.at(-1).hex.slice(0, 8), 'ffffffff')
`, nil)
}

// When no ids are left it throws, and goes on to.
func TestJavaScriptEnds(t *testing.T) {
	node(t, almostFull+`
now = 2 ** 33 * 1000
assert.equal(ObjectId.generate().hex, 'fffffffffffffffdfffffffe')
assert.equal(ObjectId.generate().hex, 'f'.repeat(15) + 'dff' + 'f'.repeat(6))
assert.throws(() => ObjectId.generate(), RangeError)
assert.throws(() => ObjectId.generate(), RangeError)
`, nil)
}

// Workers, and programs that start from a snapshot, have process values of their own.
func TestJavaScriptDrawsAgain(t *testing.T) {
	out := node(t, `
import { ObjectId } from '@oidkit/objectid'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
if (isMainThread) {
  console.log(String(ObjectId.generate()))
  new Worker(fileURLToPath(import.meta.url)).on('message', (text) => console.log(text))
} else parentPort.postMessage(String(ObjectId.generate()))
`, nil)
	values := map[string]bool{}
	for id := range strings.FieldsSeq(out) {
		values[id[8:18]] = true
	}
	source := testenv.Must(os.ReadFile(library + "objectid.js"))(t)
	dir := t.TempDir()
	script, blob := filepath.Join(dir, "snapshot.cjs"), filepath.Join(dir, "snapshot.blob")
	program := strings.ReplaceAll(string(source), "export class", "class") + `
const before = String(ObjectId.generate())
require('v8').startupSnapshot.setDeserializeMainFunction(() => console.log(before, String(ObjectId.generate())))
`
	testenv.NoError(t, os.WriteFile(script, []byte(program), 0o644))
	for i, arguments := range [][]string{{"--build-snapshot", script}, nil, nil} {
		out := testenv.Must(exec.CommandContext(t.Context(), "node", append([]string{"--snapshot-blob", blob}, arguments...)...).Output())(t)
		for id := range strings.FieldsSeq(string(out)) {
			values[id[8:18]] = true
		}
		if i > 0 && len(values) != 3+i {
			t.Errorf("start %d from the snapshot: process values %v, want %d", i, values, 3+i)
		}
	}
}

// bson takes the ids for its own, and the blocks of the README run.
func TestJavaScriptWithBSON(t *testing.T) {
	readme := testenv.Must(os.ReadFile(library + "README.md"))(t)
	seven := map[string]string{"bson": testenv.NodeModules(t, "bson", "7.3.4")}
	blocks := regexp.MustCompile("(?s)```js\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 2 {
		t.Fatalf("js/README.md has %d blocks", len(blocks))
	}
	for i, want := range []string{"(?s)^[0-9a-f]{24}\n20.*Z\n{\"id\":\"[0-9a-f]{24}\"}\ntrue 0\n$", "^true true\ntrue\n$"} {
		if out := node(t, blocks[i][1], seven); !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("block %d of js/README.md prints %q, want %s", i+1, out, want)
		}
	}
	for version, packages := range map[string]map[string]string{"6": {"bson": testenv.NodeModules(t, "bson", "6.10.4")}, "7": seven} {
		t.Run(version, func(t *testing.T) {
			node(t, checks+`
import { markForBSON } from '@oidkit/objectid/bson'
import * as bson from 'bson'
const id = ObjectId.generate()
const theirs = new bson.ObjectId(id.hex)
assert.ok(id.equals(theirs))
assert.equal(ObjectId.compare(id, theirs), 0)
markForBSON(13 - `+version+`)
assert.throws(() => bson.serialize({ id }))
markForBSON(`+version+`)
assert.deepEqual(bson.serialize({ _id: id, list: [id] }), bson.serialize({ _id: theirs, list: [theirs] }))
assert.equal(bson.calculateObjectSize({ id }), bson.calculateObjectSize({ id: theirs }))
assert.equal(bson.EJSON.stringify({ id }), bson.EJSON.stringify({ id: theirs }))
assert.ok(theirs.equals(id) && new bson.ObjectId(id).equals(theirs) && bson.ObjectId.isValid(id))
assert.deepEqual(Object.keys(id), ['hex'])
`, packages)
		})
	}
}

// The whole class takes less than 700 bytes, minified and compressed.
func TestJavaScriptIsSmall(t *testing.T) {
	program := filepath.Join(testenv.NodeModules(t, "esbuild", "0.28.2"), "esbuild", "bin", "esbuild")
	minified := testenv.Must(exec.CommandContext(t.Context(), "node", program, "--minify", "--format=esm", library+"objectid.js").Output())(t)
	var small bytes.Buffer
	w, _ := gzip.NewWriterLevel(&small, gzip.BestCompression)
	testenv.Must(w.Write(minified))(t)
	testenv.NoError(t, w.Close())
	if small.Len() >= 700 {
		t.Errorf("%d bytes", small.Len())
	}
	t.Logf("%d bytes", small.Len())
}

// The types say what the modules have.
func TestJavaScriptTypes(t *testing.T) {
	modules := testenv.NodeModules(t, "typescript", "5.9.2")
	dir := t.TempDir()
	testenv.NoError(t, os.CopyFS(dir, os.DirFS(library)))
	const program = `
import { ObjectId, type Range } from './objectid.js'
import { markForBSON } from './bson.js'
const id: ObjectId = ObjectId.generate()
const day: Range = ObjectId.between(new Date(), 5)
const order: number = [id, day.$gte].sort(ObjectId.compare).length
markForBSON(7)
const bytes: Uint8Array = id.id
// @ts-expect-error
new ObjectId()
// @ts-expect-error
id.hex = ''
`
	testenv.NoError(t, os.WriteFile(filepath.Join(dir, "main.mts"), []byte(program), 0o644))
	tsc := exec.CommandContext(t.Context(), "node", filepath.Join(modules, "typescript", "bin", "tsc"),
		"--noEmit", "--strict", "--lib", "es2015", "--module", "nodenext", "--target", "es2022", filepath.Join(dir, "main.mts"))
	testenv.Run(t, tsc)
}
