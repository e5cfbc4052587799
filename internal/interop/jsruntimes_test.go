package interop

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
)

// project returns a folder with files, in which @oidkit/objectid is installed as npm would
// copy it.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	installed := filepath.Join(dir, "node_modules/@oidkit")
	testenv.NoError(t, os.MkdirAll(installed, 0o755))
	testenv.NoError(t, os.CopyFS(filepath.Join(installed, "objectid"), os.DirFS(library)))
	for name, text := range files {
		testenv.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		testenv.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// runIn runs a command in a folder.
func runIn(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "CI=1")
	return testenv.Run(t, cmd)
}

// In each runtime the package can be imported and required, with one class and one generator
// for both, and a worker has a process value of its own.
func TestJavaScriptRuntimes(t *testing.T) {
	const program = `
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import { ObjectId } from '@oidkit/objectid'
import { markForBSON } from '@oidkit/objectid/bson'
import ObjectID from '@oidkit/objectid/compat'

if (!isMainThread) {
  parentPort.postMessage(ObjectID().str.slice(8, 18))
} else {
  const require = createRequire(import.meta.url)
  assert.equal(require('@oidkit/objectid').ObjectId, ObjectId)
  assert.equal(require('@oidkit/objectid/bson').markForBSON, markForBSON)
  assert.equal(require('@oidkit/objectid/compat'), ObjectID)
  const ids = Array.from({ length: 1000 }, (_, i) => (i % 2 ? ObjectID().str : ObjectId.generate().hex))
  assert.ok(ids.every((id, i) => i === 0 || ids[i - 1] < id))
  const value = await new Promise((resolve) => new Worker(new URL(import.meta.url)).once('message', resolve))
  assert.notEqual(value, ids[0].slice(8, 18))
  console.log(ObjectID('54495ad94c934721ede76d90'))
  process.exit()
}
`
	dir := project(t, map[string]string{"package.json": "{}", "main.mjs": program})
	for _, name := range []string{"node 20.0.0", "node 22.23.3", "node 24.9.0", "bun 1.4.5", "deno 2.9.6"} {
		t.Run(name, func(t *testing.T) {
			runtime, version, _ := strings.Cut(name, " ")
			command := []string{testenv.JavaScript(t, runtime, version), "main.mjs"}
			if runtime == "deno" {
				command = []string{command[0], "run", "--quiet", "--allow-all", "main.mjs"}
			}
			if out := runIn(t, dir, command...); out != "ObjectID(54495ad94c934721ede76d90)\n" {
				t.Errorf("%v: %s", command, out)
			}
		})
	}
}

const expectations = `
test('equality, JSON and snapshots', () => {
  const id = ObjectID('54495ad94c934721ede76d90')
  expect(ObjectID(Buffer.from('54495ad94c934721ede76d90', 'hex'))).toStrictEqual(id)
  expect(ObjectID(Uint8Array.from([84, 73, 90, 217, 76, 147, 71, 33, 237, 231, 109, 144]))).toEqual(id)
  expect(ObjectID()).not.toEqual(id)
  expect(ObjectId.generate()).not.toEqual(ObjectId.generate())
  expect({ id }).toEqual({ id: expect.any(ObjectID) })
  expect({ id }).toMatchInlineSnapshot(` + "`\n{\n  \"id\": \"54495ad94c934721ede76d90\",\n}\n`" + `)
})
`

// jest requires the package, and vitest imports it.
func TestJavaScriptTestRunners(t *testing.T) {
	dir := project(t, map[string]string{
		"package.json":    "{}",
		"jest.test.cjs":   "const { ObjectId } = require('@oidkit/objectid')\nconst ObjectID = require('@oidkit/objectid/compat')\n" + expectations,
		"vitest.test.mjs": "import { ObjectId } from '@oidkit/objectid'\nimport ObjectID from '@oidkit/objectid/compat'\n" + expectations,
	})
	jest := filepath.Join(testenv.NodeModules(t, "jest", "30.5.2"), "jest/bin/jest.js")
	if out := runIn(t, dir, testenv.Program(t, "node", "nodejs"), jest, "--ci", "--rootDir", dir, "--testMatch", "**/jest.test.cjs"); !strings.Contains(out, "1 passed, 1 total") {
		t.Error(out)
	}
	vitest := filepath.Join(testenv.NodeModules(t, "vitest", "5.1.2"), "vitest/vitest.mjs")
	if out := runIn(t, dir, testenv.JavaScript(t, "node", "24.9.0"), vitest, "run", "--globals", "vitest.test.mjs"); !strings.Contains(out, "1 passed (1)") {
		t.Error(out)
	}
}

// Bundlers find what they need for browsers and for Node.js, also where one module imports and
// another requires. Only in Node.js these two get the same class.
func TestJavaScriptBundlers(t *testing.T) {
	dir := project(t, map[string]string{
		"package.json":                     `{"type": "module"}`,
		"node_modules/old/package.json":    `{"name": "old", "version": "1.0.0", "main": "index.js"}`,
		"node_modules/old/index.js":        "exports.ObjectID = require('@oidkit/objectid/compat')",
		"node_modules/modern/package.json": `{"name": "modern", "version": "1.0.0", "type": "module", "main": "index.js"}`,
		"node_modules/modern/index.js":     "export { ObjectId } from '@oidkit/objectid'",
		"main.js": `
import ObjectID from '@oidkit/objectid/compat'
import { ObjectId } from 'modern'
import old from 'old'
const id = ObjectID('54495ad94c934721ede76d90')
console.log(String(id), ObjectId.generate() < ObjectID(), old.ObjectID(id).equals(id), old.ObjectID === ObjectID)`,
		"webpack.cjs": `
const [, , webpack, target] = process.argv
require(webpack)({ mode: 'production', target, entry: './main.js', context: __dirname, output: { path: __dirname + '/out', filename: 'webpack-' + target + '.cjs' } },
  (err, stats) => { if (err || stats.hasErrors() || stats.hasWarnings()) throw err || stats.toString() })`,
		"vite.mjs": `
const { build } = await import(process.argv[2])
await build({ logLevel: 'warn', configFile: false, build: { outDir: 'out', emptyOutDir: false, lib: { entry: 'main.js', formats: ['es'], fileName: 'vite-web' } } })`,
	})
	program := testenv.Program(t, "node", "nodejs")
	esbuild := filepath.Join(testenv.NodeModules(t, "esbuild", "0.28.2"), "esbuild/bin/esbuild")
	webpack := filepath.Join(testenv.NodeModules(t, "webpack", "5.113.0"), "webpack")
	vite := filepath.Join(testenv.NodeModules(t, "vite", "8.3.8"), "vite/dist/node/index.js")
	for out, command := range map[string][]string{
		"esbuild-web.cjs":  {esbuild, "--bundle", "--minify", "--log-level=warning", "main.js", "--outfile=out/esbuild-web.cjs"},
		"esbuild-node.cjs": {esbuild, "--bundle", "--minify", "--log-level=warning", "--platform=node", "main.js", "--outfile=out/esbuild-node.cjs"},
		"webpack-web.cjs":  {"webpack.cjs", webpack, "web"},
		"webpack-node.cjs": {"webpack.cjs", webpack, "node"},
		"vite-web.js":      {"vite.mjs", vite},
	} {
		t.Run(out, func(t *testing.T) {
			if said := runIn(t, dir, append([]string{program}, command...)...); said != "" {
				t.Errorf("%v says %s", command, said)
			}
			want := "54495ad94c934721ede76d90 true true false\n"
			if strings.Contains(out, "-node") {
				want = "54495ad94c934721ede76d90 true true true\n"
			}
			if got := runIn(t, dir, program, filepath.Join("out", out)); got != want {
				t.Errorf("the bundle prints %s, want %s", got, want)
			}
		})
	}
}

// A browser runs the modules as they are, also in a worker.
func TestJavaScriptInChromium(t *testing.T) {
	browser := testenv.Chromium(t)
	mux := http.NewServeMux()
	mux.Handle("GET /js/", http.StripPrefix("/js/", http.FileServer(http.Dir(library))))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") })
	mux.HandleFunc("GET /worker.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte("import ObjectID from '/js/compat.js'\npostMessage(ObjectID().str)"))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	if err := chromedp.Do(browser, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(browser, chromedp.Evaluate[string](`(async () => {
		const { default: ObjectID } = await import('/js/compat.js')
		const { ObjectId } = await import('/js/objectid.js')
		const id = ObjectID([84, 73, 90, 217, 76, 147, 71, 33, 237, 231, 109, 144])
		const mine = ObjectID()
		const theirs = await new Promise((resolve, reject) => {
			const worker = new Worker('/worker.js', { type: 'module' })
			worker.onmessage = (event) => resolve(event.data)
			worker.onerror = reject
		})
		return [id.id === 'TIZ\xd9L\x93G!\xed\xe7m\x90', id instanceof ObjectId, mine.str < ObjectId.generate().hex,
			ObjectID.isValid(theirs), mine.str.slice(8, 18) !== theirs.slice(8, 18), structuredClone(id).hex === id.str].join()
	})()`, chromedp.EvalAwaitPromise))
	if err != nil || got != "true,true,true,true,true,true" {
		t.Errorf("%s, %v", got, err)
	}
}

// The checkers of packages find nothing: each form of import leads to a module of its form and
// to types that say what it has.
func TestJavaScriptPackage(t *testing.T) {
	testenv.Program(t, "npm", "npm")
	publint := filepath.Join(testenv.NodeModules(t, "publint", "0.3.25"), "publint/src/cli.js")
	if out := runIn(t, library, "node", publint, "--strict"); !strings.Contains(out, "All good") {
		t.Error(out)
	}
	dir := t.TempDir()
	runIn(t, library, "npm", "pack", "--silent", "--pack-destination", dir)
	attw := filepath.Join(testenv.NodeModules(t, "@arethetypeswrong/cli", "0.18.5"), "@arethetypeswrong/cli/dist/index.js")
	if out := runIn(t, dir, "node", attw, "--no-emoji", "oidkit-objectid-0.0.0.tgz"); !strings.Contains(out, "No problems found") {
		t.Error(out)
	}
}
