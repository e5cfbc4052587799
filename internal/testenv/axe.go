package testenv

import (
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed axe/package.json axe/package-lock.json
var axeFiles embed.FS

// Axe returns the source of axe-core, which looks for what keeps people from using
// a page. Its version is in axe/package.json; npm fetches it for the test.
func Axe(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		Missing(t, "npm is not installed: apt-get install npm")
	}
	folder := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := axeFiles.ReadFile("axe/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = folder
	if out, err := npm.CombinedOutput(); err != nil {
		Missing(t, "npm cannot fetch axe-core: "+err.Error()+"\n"+string(out))
	}
	source, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}
