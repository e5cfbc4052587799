package lock

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// pin lets this program and another process run on one CPU only, as taskset does,
// until the function that it returns is called. Otherwise what one worker gets
// depends on where the scheduler happens to put the two: by a factor of more than
// two from one run to the next.
func pin(t *testing.T, pid int) (undo func()) {
	t.Helper()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	for cpu := range len(before) * 64 {
		if before.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	set := func(cpus *unix.CPUSet) {
		for _, pid := range []int{os.Getpid(), pid} {
			threads, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
			if err != nil {
				t.Fatal(err)
			}
			for _, thread := range threads { // those that begin later inherit it
				tid, _ := strconv.Atoi(thread.Name())
				if err := unix.SchedSetaffinity(tid, cpus); err != nil && err != unix.ESRCH {
					t.Fatal(err)
				}
			}
		}
	}
	procs := runtime.GOMAXPROCS(1)
	set(&one)
	return func() {
		set(&before)
		runtime.GOMAXPROCS(procs)
	}
}
