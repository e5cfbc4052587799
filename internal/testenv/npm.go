package testenv

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// npmPackages are the packages that tests ask for, all of which TestFetch fetches.
var npmPackages = []string{
	"@duckdb/node-api@1.5.6-r.1",
	"@redocly/cli@2.77.0",
	"@stoplight/spectral-cli@6.16.3",
	"axe-core@4.14.1",
	"bson-objectid@2.0.4",
	"bson@4.7.2",
	"bson@6.10.4",
	"bson@7.1.0",
	"bson@7.3.4",
	"chdb@3.4.0",
	"esbuild@0.28.2",
	"mongosh@2.12.0",
	"typescript@5.9.2",
}

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
