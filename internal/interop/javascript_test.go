package interop

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	if got := node(t, source.String(), nil); got != want.String() {
		t.Errorf("got\n%swant\n%s", got, want.String())
	}
}

// goUpper is the bound that includes every id created before ms; the smallest id of the last
// second for times that do not fit.
func goUpper(ms int64) objectid.ID {
	return objectid.MinAt(time.UnixMilli(ms + 999).Truncate(time.Second))
}

// A time is a Date, also one of another realm, or milliseconds. All else is refused: as a bound it
// would find nothing or everything.
func TestJavaScriptRefusesOtherTimes(t *testing.T) {
	node(t, checks+`
import vm from 'node:vm'
const now = Date.now()
const text = { hex: '507f1f77bcf86cd799439011' }
for (const bad of [undefined, null, NaN, Infinity, -Infinity, true, '', '2026-11-01', '1350508407000', 1350508407000n, new Date('soon'), {},
  [], [now], Symbol("now"), () => now, text, ObjectId.generate(), Math.floor(now / 1000), now / 1000, 4294967295,
  now * 1e3, now * 1e6, 133e15])
  for (const f of [() => ObjectId.at(bad), () => ObjectId.between(bad, now), () => ObjectId.between(0, bad)])
    assert.throws(f, { name: 'TypeError', message: /^objectid: want a Date or milliseconds: / }, String(typeof bad))
assert.throws(() => ObjectId.at(1350508407), { message: 'objectid: want a Date or milliseconds: 1350508407' })
for (const good of [new Date(1350508407000), new Number(1350508407000), vm.runInNewContext('new Date(1350508407000)'),
  { valueOf: () => 1350508407000 }, 1350508407000.5, 1350508407999])
  assert.equal(ObjectId.at(good).hex, '507f1f770000000000000000')
assert.equal(ObjectId.at(new Date(1350508407)).hex, '00149b6c0000000000000000')
assert.equal(ObjectId.between(now, 1350508407000.5).$lt.hex, '507f1f780000000000000000')
for (const [time, second] of [[999999999, '000f423f'], [1e10, '00989680'], [-1e9, '00000000'], [1e15 - 1, 'ffffffff'], [new Date(8.64e15), 'ffffffff'],
  [new Date(-8.64e15), '00000000'], [-1350508407000, '00000000']])
  assert.equal(ObjectId.at(time).hex, second + '0'.repeat(16), String(time))
`, nil)
}

// Functions work without the class before them: in map, as a default of mongoose, as createPk.
func TestJavaScriptUnbound(t *testing.T) {
	node(t, checks+`
const { generate, at, between, compare, reseed } = ObjectId
const ids = [1, 2, 3].map(generate)
assert.ok(ids.every((id) => id instanceof ObjectId) && generate.call({}) instanceof ObjectId && generate.call(null) instanceof ObjectId)
assert.deepEqual([...ids].reverse().sort(compare), ids)
assert.deepEqual([1e3, 2e3].map(at).map((id) => id.hex.slice(0, 8)), ['00000001', '00000002'])
assert.equal(String(between(1500, 2500).$lt), String(at(3000)))
reseed()
assert.notEqual(generate().hex.slice(8, 18), ids[0].hex.slice(8, 18))
`, nil)
}

// Without random values it says so, once there are some it goes on.
func TestJavaScriptWithoutCrypto(t *testing.T) {
	node(t, checks+`
const { crypto } = globalThis
for (const missing of [undefined, null, {}]) {
  Object.defineProperty(globalThis, 'crypto', { value: missing, configurable: true })
  assert.throws(() => ObjectId.generate(), { name: 'TypeError', message: 'objectid: no crypto.getRandomValues' })
}
delete globalThis.crypto
assert.throws(() => ObjectId.generate(), { message: 'objectid: no crypto.getRandomValues' })
Object.defineProperty(globalThis, 'crypto', { value: crypto })
ObjectId.generate()
`, nil)
}

// Ids increase when the random bytes are drawn again and are smaller than those before.
func TestJavaScriptIncreasesWhenDrawnAgain(t *testing.T) {
	node(t, checks+`
let fill = 0xffffffff
Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues: (a) => a.fill((fill -= 0x1000001)) } })
let origin = 1
Object.defineProperty(globalThis, 'performance', { get: () => origin === undefined ? origin : { timeOrigin: origin, now: () => 12345.678 } })
const now = Date.now
for (const clock of [now, () => 1e12, () => 0, () => NaN, () => now() + 3600e3, () => -1]) {
  Date.now = clock
  for (const draw of [() => origin++, () => (origin = NaN), () => (origin = undefined), () => (origin = 7), () => ObjectId.reseed(), () => {}]) {
    const before = ObjectId.generate()
    draw()
    const after = ObjectId.generate()
    assert.equal(ObjectId.compare(before, after), -1, before + ' ' + after)
    const changes = before.hex.slice(8, 18) !== after.hex.slice(8, 18)
    assert.equal(changes, draw.toString() !== '() => {}')
  }
}
`, nil)
}

// Two copies of a process in which crypto has the same state draw process values of their own, if
// one of the clocks differs.
func TestJavaScriptCopiesWithTheSameRandomBytes(t *testing.T) {
	node(t, checks+`
Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues: (a) => a.fill(7) } })
let wall = 1800000000000, monotonic = 5000.25
Date.now = () => wall
Object.defineProperty(globalThis, 'performance', { value: { timeOrigin: 1, now: () => monotonic } })
const copy = () => { ObjectId.reseed(); return ObjectId.generate().hex.slice(8, 18) }
const values = [copy()]
wall += 1
values.push(copy())
monotonic += 0.001
values.push(copy())
assert.equal(new Set(values).size, 3, values)
assert.equal(copy(), values[2]) // nothing else is mixed in
monotonic = 400 * 86400e3 // also in a process that has run for a year
const more = new Set()
for (let i = 0; i < 1000; i++) {
  wall += 1
  monotonic += 0.013
  more.add(copy())
}
assert.ok(more.size > 990, more.size)
`, nil)
}

// reseed draws other bytes on platforms without performance, too, and under test clocks that begin
// in 1970.
func TestJavaScriptReseedUnderAnyClock(t *testing.T) {
	node(t, checks+`
Date.now = () => 0
for (const value of [undefined, { timeOrigin: 0, now: () => 0 }]) {
  Object.defineProperty(globalThis, 'performance', { value, configurable: true })
  const before = ObjectId.generate()
  ObjectId.reseed()
  assert.notEqual(ObjectId.generate().hex.slice(8, 18), before.hex.slice(8, 18))
}
delete globalThis.performance
ObjectId.reseed()
ObjectId.generate()
`, nil)
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
assert.ok(ids.every((id) => id.hex.slice(8, 18) === ids[0].hex.slice(8, 18)))
assert.equal(ids.at(-1).hex.slice(0, 8), 'ffffffff')
`, nil)
}

// When no ids are left it throws, and goes on to.
func TestJavaScriptEnds(t *testing.T) {
	node(t, almostFull+`
now = 2 ** 33 * 1000
assert.equal(ObjectId.generate().hex.slice(0, 8), 'ffffffff')
assert.match(ObjectId.generate().hex, /^f{8}.{8}f{8}$/)
assert.throws(() => ObjectId.generate(), /no ids left/)
assert.throws(() => ObjectId.generate(), /no ids left/)
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
