package testenv

import (
	"os/exec"
	"testing"
)

// Program returns the path of an installed program, also of one in a folder for servers that
// is not in the path of every user. Without it the test ends, see [Missing], and says which
// packages to install.
func Program(t testing.TB, name, packages string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(path); err == nil {
			return path
		}
	}
	Missing(t, name+" is not installed: apt-get install "+packages)
	return ""
}

// Run runs a command until it ends and returns what it wrote. If it fails, the test ends.
func Run(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}
