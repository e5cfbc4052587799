package guard

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// TestListedChildren: the kernel's lists name the same processes as a look at all of them
// does, whatever their session, and whichever thread has started them.
func TestListedChildren(t *testing.T) {
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		t.Skip("this kernel does not list the children of a process")
	}
	for range 3 {
		cmd := exec.Command("sh", "-c", `sleep 1000 & setsid sh -c 'sleep 1000 & wait' & wait`)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			for _, p := range append(Descendants(cmd.Process.Pid), Process{PID: cmd.Process.Pid}) {
				_ = syscall.Kill(p.PID, syscall.SIGKILL)
			}
			_ = cmd.Wait()
		})
	}
	testenv.Await(t, "the same processes", func() error { // some begin and end meanwhile
		all, seen := childrenOfAll(), 0
		for parents := []int{os.Getpid()}; len(parents) > 0; parents = parents[1:] {
			listed, read := pidsOf(listedChildren(parents[0])), pidsOf(all(parents[0]))
			if !slices.Equal(listed, read) {
				return fmt.Errorf("the kernel lists %v as children of %d, and %v name it as their parent", listed, parents[0], read)
			}
			seen += len(read)
			parents = append(parents, read...)
		}
		if seen < 12 {
			return fmt.Errorf("%d processes, want twelve", seen)
		}
		return nil
	})
}

func pidsOf(processes []Process) (pids []int) {
	for _, p := range processes {
		pids = append(pids, p.PID)
	}
	slices.Sort(pids)
	return pids
}
