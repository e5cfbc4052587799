// Package imports holds the test of which package may import which.
package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/testenv"
)

const module = "github.com/oidkit/oid/"

// forTests are the packages that only tests and benchmarks import.
var forTests = []string{"internal/imports", "internal/interop", "internal/lockfaults", "internal/testenv", "lock/internal/locktest", "store/internal/storetest"}

// isForTests reports whether room is one of forTests or below one.
func isForTests(room string) bool {
	return slices.ContainsFunc(forTests, func(of string) bool {
		return room == of || strings.HasPrefix(room, of+"/")
	})
}

// allowed are the packages of this module that each may import, besides those
// for tests. A package below internal is a part of the product like any other and
// has its own line. Engines are imported by cmd/oid and by tests; nothing imports
// cmd.
var allowed = map[string][]string{
	"objectid":                      {},
	"objectid/sealed":               {"objectid"},
	"gpid":                          {},
	"census":                        {"census/internal/idset", "census/internal/source", "objectid", "internal/era", "internal/phrase", "internal/each", "internal/unpack"},
	"census/internal/idset":         {"objectid", "internal/each"},
	"inspect":                       {"objectid", "gpid", "internal/era", "internal/classic", "internal/pattern", "internal/each"},
	"census/internal/source":        {"inspect", "objectid", "internal/bsonwalk", "internal/each", "internal/phrase", "internal/unpack"},
	"internal/report":               {"census", "inspect", "internal/phrase", "internal/plot", "internal/each"},
	"internal/era":                  {"objectid"},
	"internal/classic":              {"objectid"},
	"internal/pattern":              {},
	"internal/each":                 {},
	"internal/hidden":               {},
	"internal/otelresource":         {"internal/backoff", "internal/hidden"},
	"internal/unpack":               {"internal/phrase"},
	"internal/phrase":               {"internal/hidden", "internal/pattern"},
	"internal/platform":             {},
	"internal/plot":                 {},
	"internal/query":                {"objectid"},
	"internal/timerange":            {"objectid", "internal/era", "internal/pattern"},
	"store":                         {"objectid", "internal/each"},
	"internal/backoff":              {},
	"internal/bsonwalk":             {},
	"internal/causes":               {},
	"internal/failure":              {},
	"store/internal/engine":         {"store", "objectid", "internal/bsonwalk", "internal/causes"},
	"store/memstore":                {"store", "store/internal/engine"},
	"store/sqlitestore":             {"store", "store/internal/engine"},
	"store/mongostore":              {"store", "objectid", "store/internal/engine", "internal/each"},
	"store/pgstore":                 {"internal/backoff", "internal/failure", "store", "objectid", "store/internal/engine"},
	"lock":                          {"internal/backoff", "gpid", "objectid", "lock/internal/engine"},
	"lock/storelock":                {"internal/backoff", "internal/failure", "lock", "lock/internal/engine", "lock/internal/calls", "lock/internal/holder", "gpid", "objectid", "store"},
	"lock/redislock":                {"internal/backoff", "internal/failure", "lock", "lock/internal/engine", "lock/internal/calls", "lock/internal/holder", "gpid", "objectid"},
	"lock/redislock/internal/model": {}, // tests only
	"lock/filelock":                 {"internal/backoff", "internal/failure", "lock", "lock/internal/engine", "lock/internal/calls", "lock/internal/holder", "gpid"},
	"lock/lockmetrics":              {"lock"},
	"lock/internal/engine":          {},
	"lock/internal/calls":           {"internal/backoff", "lock", "lock/internal/engine", "lock/internal/holder", "gpid", "objectid"},
	"lock/internal/holder":          {"internal/backoff", "lock", "gpid"},
	"registry":                      {"internal/backoff", "objectid", "gpid", "store", "internal/classic", "internal/each", "internal/hidden", "internal/otelresource"},
	"server":                        {"internal/backoff", "objectid", "gpid", "inspect", "census", "internal/plot", "internal/phrase", "lock", "store", "registry", "internal/timerange", "server/internal/door", "internal/page", "internal/report", "server/wire", "internal/pure", "internal/towire", "internal/each", "internal/hidden", "internal/pattern"},
	"internal/page":                 {"objectid", "inspect", "internal/odds", "internal/pure", "internal/report", "internal/phrase", "internal/plot", "internal/platform", "internal/query", "internal/timerange", "server/wire"},
	"server/internal/door":          {"objectid"},
	"server/wire":                   {"objectid"},
	"server/client":                 {"internal/backoff", "internal/otelresource", "objectid", "server/wire"},
	"internal/pure":                 {"inspect", "internal/each", "internal/query", "internal/timerange", "objectid", "server/wire"},
	"internal/towire":               {"internal/pure", "objectid", "gpid", "inspect", "census", "internal/pattern", "internal/phrase", "lock", "registry", "server/wire", "internal/each"},
	"internal/agent":                {"internal/otelresource", "registry", "objectid", "gpid", "store", "internal/backoff"},
	"internal/odds":                 {"internal/timerange"},
	"cmd/oid/internal/job":          {"cmd/oid/internal/job/guard"},
	"cmd/oid/internal/job/guard":    {},
	"cmd/oid/internal/documents":    {"census"},
	"cmd/oid/internal/table":        {"inspect", "objectid", "internal/causes", "internal/each", "internal/pattern"},
	"site":                          {}, // its program is for WebAssembly alone
	"site/build":                    {"inspect", "internal/page", "internal/pattern", "internal/pure", "objectid"},
	"site/census":                   {"census", "internal/page", "internal/phrase", "internal/pure", "internal/report", "internal/unpack"},
	"cmd/oid":                       nil, // everything
}

// standardOnly import nothing but the standard library, and their tests neither.
var standardOnly = []string{"objectid", "gpid"}

// callsByName are packages that call methods by names that only a running program
// knows. One of them in the command, and the linker keeps all methods of all types.
var callsByName = []string{"html/template", "text/template"}

// shadowing are names that a package may not have: they say nothing, or they hide
// a package that its importers want as well.
var shadowing = []string{
	"util", "utils", "common", "types", "helpers", "pkg",
	"http", "time", "sql", "json", "os", "io", "net", "log", "sync", "context", "errors", "testing",
	"bson", "mongo", "redis", "sqlite", "uuid",
}

type goPackage struct {
	ImportPath, Name, Dir                    string
	Imports, Deps, TestImports, XTestImports []string
	Standard                                 bool
}

func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Dir,Imports,Deps,TestImports,XTestImports,Standard", module+"...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64") // the same arrows everywhere
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
		for _, dir := range []string{p.Dir, path.Dir(p.Dir)} { // or go test would not see that packages came or changed
			testenv.Must(os.ReadDir(dir))(t)
		}
	}
}

func TestDirections(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t) {
		room := strings.TrimPrefix(p.ImportPath, module)
		seen[room] = true
		if p.Name != "main" && slices.Contains(shadowing, path.Base(room)) {
			t.Errorf("%s: a package may not be called %s", room, path.Base(room))
		}
		if isForTests(room) || strings.HasPrefix(room, "examples/") {
			continue
		}
		may, known := allowed[room]
		if !known {
			t.Errorf("%s is in no rule: add it to allowed in internal/imports/imports_test.go with what it may import, and to the drawing in docs/design.md", room)
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			switch {
			case slices.Contains(callsByName, imported):
				t.Errorf("%s imports %s, which makes the command 1.4 times as large; write HTML with gomponents", room, imported)
			case !ours:
				if slices.Contains(standardOnly, room) && strings.Contains(strings.Split(imported, "/")[0], ".") {
					t.Errorf("%s imports %s; it may import the standard library only", room, imported)
				}
			case strings.HasPrefix(to, "cmd/") && !strings.HasPrefix(room, "cmd/oid"):
				t.Errorf("%s imports the command %s", room, to)
			case may != nil && !slices.Contains(may, to):
				t.Errorf("%s imports %s; it may import %v", room, to, may)
			}
		}
		for _, to := range may {
			if !slices.Contains(p.Imports, module+to) {
				t.Errorf("%s does not import %s any more: remove that from allowed in internal/imports/imports_test.go", room, to)
			}
		}
		if slices.Contains(standardOnly, room) {
			for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
				if imported != p.ImportPath && strings.Contains(strings.Split(imported, "/")[0], ".") {
					t.Errorf("a test of %s imports %s", room, imported)
				}
			}
		}
	}
	if !seen["objectid"] || !seen["cmd/oid"] {
		t.Errorf("go list has found only %v", seen)
	}
}

// A client of the HTTP API needs no other module, so it stays small in the programs
// that embed it.
func TestClientIsSmall(t *testing.T) {
	for _, room := range []string{"server/wire", "server/client"} {
		out := testenv.Must(exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", module+room).Output())(t)
		for dep := range strings.FieldsSeq(string(out)) {
			if to, ours := strings.CutPrefix(dep, module); !ours || !slices.Contains([]string{"objectid", "server/wire", "server/client", "internal/backoff", "internal/hidden", "internal/otelresource"}, to) {
				t.Errorf("%s depends on %s", room, dep)
			}
		}
	}
}

// engines returns the packages that import what a contract shares with its engines, by
// contract, but for the internal ones.
func engines(packages []goPackage) map[string][]string {
	all := map[string][]string{"lock": nil, "store": nil}
	for contract := range all {
		for _, p := range packages {
			room := strings.TrimPrefix(p.ImportPath, module)
			if room != contract && !strings.HasPrefix(room, contract+"/internal/") && slices.Contains(p.Imports, module+contract+"/internal/engine") {
				all[contract] = append(all[contract], room)
			}
		}
	}
	return all
}

// Each engine is named by its contract, and its name is left out of errors that a user sees.
func TestEnginesAreKnown(t *testing.T) {
	for contract, all := range engines(list(t)) {
		page := testenv.Must(os.ReadFile(root + contract + "/doc.go"))(t)
		comment, _, _ := strings.Cut(string(page), "\npackage ")
		for _, room := range all {
			name := path.Base(room)
			if !slices.Contains(strings.FieldsFunc(comment, func(r rune) bool { return !unicode.IsLetter(r) }), name) {
				t.Errorf("%s/doc.go does not name the engine %s in the package comment", contract, name)
			}
			if got := phrase.Plain(name + ": x"); got != "x" {
				t.Errorf("errors show the name of the package %s: add it to packagePrefix in internal/phrase/phrase.go", name)
			}
		}
		if len(all) < 3 {
			t.Errorf("%s has the engines %v; want at least three", contract, all)
		}
	}
}

// What a package pulls in by way of others counts as well.
func TestNothingComesAlong(t *testing.T) {
	packages := list(t)
	engines := slices.Concat(slices.Collect(maps.Values(engines(packages)))...)
	for _, p := range packages {
		if p.Name == "main" || isForTests(strings.TrimPrefix(p.ImportPath, module)) {
			continue
		}
		room := strings.TrimPrefix(p.ImportPath, module)
		for _, dep := range p.Deps {
			to, ours := strings.CutPrefix(dep, module)
			if ours && isForTests(to) {
				t.Errorf("%s depends on %s, which is for tests", room, to)
			}
			if ours && slices.Contains(engines, to) && to != room {
				t.Errorf("%s depends on the engine %s", room, to)
			}
		}
	}
}
