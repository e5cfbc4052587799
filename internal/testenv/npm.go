package testenv

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// NodeModules returns a folder for NODE_PATH with a package of npm in exactly this
// version. npm fetches it on first use.
func NodeModules(t testing.TB, name, version string) string { return npm(t, name, version) }

// npm returns the folder node_modules with a package of npm in exactly this version,
// and what it depends on. npm fetches it on first use.
func npm(t testing.TB, name, version string) string {
	t.Helper()
	Long(t, "runs Node.js")
	folder, err := cached(fmt.Sprintf("%s-%s", strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-"), version), func(part string) *exec.Cmd {
		return exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", part, name+"@"+version)
	})
	if err != nil {
		Missing(t, fmt.Sprintf("npm cannot fetch %s: %v; get npm with \"apt-get install npm\"", name, err))
	}
	return filepath.Join(folder, "node_modules")
}
