package interop

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

const compatPage = "../../docs/how-to/from-bson-objectid.md"

// pageBlocks returns the blocks of a language in the page about bson-objectid.
func pageBlocks(t *testing.T, language string, want int) (blocks []string) {
	t.Helper()
	page := string(testenv.Must(os.ReadFile(compatPage))(t))
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) != want {
		t.Fatalf("%s has %d blocks of %s, want %d", compatPage, len(blocks), language, want)
	}
	return blocks
}

// The blocks of the page print what their comments say.
func TestJavaScriptCompatPage(t *testing.T) {
	for i, block := range pageBlocks(t, "js", 4) {
		if strings.HasPrefix(block, "// index.js") {
			continue // TestJavaScriptShim
		}
		if strings.Contains(block, " require(") {
			block = "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n" + block
		}
		var want strings.Builder
		for _, m := range regexp.MustCompile(`(?m)^console\.log.* // (.*)$`).FindAllStringSubmatch(block, -1) {
			want.WriteString(m[1] + "\n")
		}
		if got := node(t, block, map[string]string{"bson": testenv.NodeModules(t, "bson", "7.3.4")}); got != want.String() || got == "" {
			t.Errorf("block %d of js prints %q, want %q", i+1, got, want.String())
		}
	}
}

// The line of the page lets programs create ids where Node.js has no global crypto, as before version 20.
func TestJavaScriptBeforeNode20(t *testing.T) {
	line := regexp.MustCompile("`(globalThis.crypto .*?)`").FindStringSubmatch(string(testenv.Must(os.ReadFile(compatPage))(t)))
	if line == nil {
		t.Fatalf("%s has no line for Node.js before 20", compatPage)
	}
	node(t, `
import { createRequire } from 'node:module'
import assert from 'node:assert/strict'
const require = createRequire(import.meta.url)
delete globalThis.crypto
const ObjectID = require('@oidkit/objectid/compat')
assert.equal(String(ObjectID('54495AD94C934721EDE76D90')), '54495ad94c934721ede76d90')
assert.throws(() => ObjectID(), /crypto/)
`+line[1]+`
assert.equal(String(ObjectID()).length, 24)

const copy = structuredClone(ObjectID('54495ad94c934721ede76d90'))
assert.equal(ObjectID.isValid(copy), false)
assert.ok(ObjectID(copy.hex).equals('54495ad94c934721ede76d90'))
`, nil)
}

// A dependency that asks for bson-objectid gets the folder of the page instead.
func TestJavaScriptShim(t *testing.T) {
	testenv.Long(t, "runs npm")
	testenv.Program(t, "npm", "npm")
	dir := t.TempDir()
	write := func(name, text string) {
		testenv.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		testenv.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	npm := func(folder string, arguments ...string) string {
		cmd := exec.CommandContext(t.Context(), "npm", append(arguments, "--offline", "--no-audit", "--no-fund")...)
		cmd.Dir = filepath.Join(dir, folder)
		return testenv.Run(t, cmd)
	}
	write("dependency/package.json", `{"name": "dependency", "version": "1.0.0", "dependencies": {"bson-objectid": "^2.0.4"}}`)
	write("dependency/index.js", "exports.create = require('bson-objectid')")
	npm("dependency", "pack", "--pack-destination", dir)
	npm("", "pack", testenv.Must(filepath.Abs(library))(t))

	write("shims/bson-objectid/index.js", pageBlocks(t, "js", 4)[2])
	write("shims/bson-objectid/index.d.ts", pageBlocks(t, "ts", 1)[0])
	manifests := pageBlocks(t, "json", 2)
	write("shims/bson-objectid/package.json", manifests[0])
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
		Overrides    map[string]string `json:"overrides"`
	}
	testenv.NoError(t, json.Unmarshal([]byte(manifests[1]), &manifest))
	maps.Copy(manifest.Dependencies, map[string]string{
		"dependency": "file:dependency-1.0.0.tgz", "@oidkit/objectid": "file:oidkit-objectid-0.0.0.tgz",
	})
	write("package.json", string(testenv.Must(json.Marshal(manifest))(t)))
	npm("", "install")
	if out := npm("", "ls", "bson-objectid"); strings.Count(out, "bson-objectid@2.0.5") != 2 || strings.Count(out, "bson-objectid@") != 2 {
		t.Errorf("npm ls:\n%s", out)
	}
	cmd := exec.CommandContext(t.Context(), "node", "-p", "require('dependency').create === require('@oidkit/objectid/compat')")
	cmd.Dir = dir
	if out := testenv.Run(t, cmd); out != "true\n" {
		t.Errorf("the dependency has another bson-objectid: %s", out)
	}

	write("app.ts", "import ObjectID from 'bson-objectid'\nconst id: ObjectID = ObjectID()\nid.toHexString()\n")
	cmd = exec.CommandContext(t.Context(), "node", filepath.Join(testenv.NodeModules(t, "typescript", "5.9.2"), "typescript", "bin", "tsc"),
		"--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "app.ts")
	cmd.Dir = dir
	testenv.Run(t, cmd)
}
