package testenv

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Mongosh returns the path of MongoDB's shell: the one that is installed, or one
// that npm fetches on first use.
func Mongosh(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("mongosh"); err == nil {
		return path
	}
	return filepath.Join(NodeModules(t, "mongosh", "2.12.0"), ".bin", "mongosh")
}
