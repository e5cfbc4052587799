package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// servant is the user as whom servers run that refuse to be root's.
var servant = sync.OnceValues(func() (*user.User, error) { return user.Lookup("nobody") })

// unprivileged returns the command that runs a program as an ordinary user: as
// servant if this process is root's, else as it is.
func unprivileged(t testing.TB, program string, args []string) (string, []string) {
	t.Helper()
	if os.Getuid() != 0 {
		return program, args
	}
	u, err := servant()
	if err != nil {
		Missing(t, "no user for servers that refuse to be root's: "+err.Error())
	}
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
	if _, err := exec.LookPath("setpriv"); err != nil {
		Missing(t, "setpriv is not installed: apt-get install util-linux")
	}
	u, err := servant()
	if err != nil {
		Missing(t, "no user for servers that refuse to be root's: "+err.Error())
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(folder, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(folder), 0o711); err != nil { // nobody gets through otherwise
		t.Fatal(err)
	}
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
