package testenv

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// npmPackages are the packages that tests ask for, all of which TestFetch fetches.
var npmPackages = []string{
	"@arethetypeswrong/cli@0.18.5",
	"@duckdb/node-api@1.5.6-r.1",
	"@redocly/cli@2.77.0",
	"@stoplight/spectral-cli@6.16.3",
	"@types/node@24.19.4",
	"axe-core@4.14.1",
	"bson-objectid@2.0.4",
	"bson@4.7.2",
	"bson@5.5.1",
	"bson@6.0.0",
	"bson@6.10.4",
	"bson@7.1.0",
	"bson@7.3.4",
	"bun@1.4.5",
	"chdb@3.4.0",
	"deno@2.9.6",
	"esbuild@0.28.2",
	"jest@30.5.2",
	"mongoose@8.24.10",
	"mongoose@9.12.1",
	"mongosh@2.12.0",
	nodePackage + "@20.0.0",
	nodePackage + "@22.23.3",
	nodePackage + "@24.9.0",
	"publint@0.3.25",
	"should@4.6.5",
	"typescript@5.9.2",
	"typescript@7.0.2",
	"vite@8.3.8",
	"vitest@5.1.2",
	"webpack@5.113.0",
}

// nodePackage has the program node of this system.
var nodePackage = "node-" + runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)

// NodeModules returns the folder node_modules, for NODE_PATH, with a package of npm in exactly
// this version, and what it depends on. npm fetches it on first use.
func NodeModules(t testing.TB, name, version string) string {
	t.Helper()
	Long(t, "runs Node.js")
	if !slices.Contains(npmPackages, name+"@"+version) {
		t.Fatalf("add %s@%s to npmPackages", name, version)
	}
	folder, err := cached(fmt.Sprintf("%s-%s", strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-"), version), func(part string) *exec.Cmd {
		return exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", part, name+"@"+version)
	})
	if err != nil {
		Missing(t, fmt.Sprintf("no %s: %v; it needs npm: apt-get install npm", name, err))
	}
	return filepath.Join(folder, "node_modules")
}

// JavaScript returns the program of a runtime of JavaScript in exactly this version: node, bun
// or deno.
func JavaScript(t testing.TB, name, version string) string {
	t.Helper()
	pattern := map[string]string{"node": nodePackage + "/bin/node", "bun": "@oven/bun-*/bin/bun", "deno": "@deno/*/deno"}[name]
	if name == "node" {
		name = nodePackage
	}
	found, _ := filepath.Glob(filepath.Join(NodeModules(t, name, version), pattern))
	if len(found) == 0 {
		Missing(t, name+" "+version+" has no program for this system")
	}
	return found[0]
}
