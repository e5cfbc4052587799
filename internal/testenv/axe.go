package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// Axe returns the source of axe-core, which looks for what keeps people from using
// a page.
func Axe(t testing.TB) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(npm(t, "axe-core", "4.14.1"), "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}
