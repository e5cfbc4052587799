package testenv

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Mongosh returns the path of MongoDB's shell: the one that is installed, or one
// that npm fetches on first use.
func Mongosh(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("mongosh"); err == nil {
		return path
	}
	folder, err := fetchMongosh()
	if err != nil {
		Missing(t, fmt.Sprintf("mongosh is not installed and npm cannot fetch it: %v; get npm with \"apt-get install npm\"", err))
	}
	return filepath.Join(folder, "node_modules", ".bin", "mongosh")
}

var fetchMongosh = sync.OnceValues(func() (string, error) {
	const version = "2.12.0"
	return cached("mongosh-"+version, func(part string) *exec.Cmd {
		return exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", part, "mongosh@"+version)
	})
})
