package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// servant returns the user as whom servers run that refuse to be root's.
func servant(t testing.TB) *user.User {
	t.Helper()
	u, err := user.Lookup("nobody")
	if err != nil {
		Missing(t, "no user for servers that refuse to be root's: "+err.Error())
	}
	return u
}

// unprivileged returns the command that runs a program as an ordinary user: as
// servant if this process is root's, else as it is.
func unprivileged(t testing.TB, program string, args []string) (string, []string) {
	t.Helper()
	if os.Getuid() != 0 {
		return program, args
	}
	u := servant(t)
	return "setpriv", append([]string{"--reuid", u.Uid, "--regid", u.Gid, "--clear-groups", program}, args...)
}

// sharedFolder returns a folder of the test's own where a program of unprivileged
// may read and write.
func sharedFolder(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	if os.Getuid() != 0 {
		return folder
	}
	Program(t, "setpriv", "util-linux")
	NoError(t, exec.Command("chown", servant(t).Username+":", folder).Run())
	NoError(t, os.Chmod(filepath.Dir(folder), 0o711)) // nobody gets through otherwise
	return folder
}

// children returns the ids of the processes that the process pid has started, where
// Linux lists them.
func children(pid int) []int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	var found []int
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			found = append(found, pid)
		}
	}
	return found
}
