package filelock_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// A power failure leaves the record before or the one after a write, because what is
// renamed to the record's name is on the disk by then. No test can pull the plug, so
// this one looks at the system calls of a holder.
func TestRecordIsOnTheDiskBeforeItIsNamed(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		testenv.Missing(t, "strace is not installed: apt-get install strace")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	holder := exec.Command("strace", "-f", "-y", "-qq", "-e", "trace=write,fsync,/^rename", "-o", trace, os.Args[0])
	holder.Env = append(os.Environ(), "OID_FILELOCK_HOLDER="+t.TempDir())
	holder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with what strace starts
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	held := make([]byte, 1)
	_, err = out.Read(held)
	_ = syscall.Kill(-holder.Process.Pid, syscall.SIGKILL)
	_ = holder.Wait()
	text, readErr := os.ReadFile(trace)
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	synced := make(map[string]bool) // by file: since the last write
	renamed := 0
	part := regexp.MustCompile(`[^<"]*\.part`)
	for line := range strings.Lines(string(text)) {
		name := part.FindString(line)
		switch {
		case name == "":
		case strings.Contains(line, "write("):
			synced[name] = false
		case strings.Contains(line, "fsync("):
			synced[name] = true
		case strings.Contains(line, "rename"):
			renamed++
			if !synced[name] {
				t.Errorf("not on the disk: %s", line)
			}
		}
	}
	if renamed == 0 {
		t.Errorf("no record was written:\n%s", text)
	}
}
