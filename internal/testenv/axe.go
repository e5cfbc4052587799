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
	source := Must(os.ReadFile(filepath.Join(NodeModules(t, "axe-core", "4.14.1"), "axe-core", "axe.min.js")))(t)
	return string(source)
}
