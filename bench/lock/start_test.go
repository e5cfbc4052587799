package lock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/internal/testenv"
)

// TestStart measures what it costs to run a command that does nothing under a lock. All have
// their turn in each round.
func TestStart(t *testing.T) {
	const runs = 50
	server, folder := testenv.Redis(t), t.TempDir()
	build := func(module, name string) string {
		to := filepath.Join(folder, filepath.Base(name))
		cmd := exec.Command("go", "build", "-o", to, name)
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the released command
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return to
	}
	oid := build("../..", "./cmd/oid")
	file := filepath.Join(folder, "file")
	subjects := []struct {
		name    string
		command []string
	}{
		{"oid lock, in Redis", []string{oid, "lock", "x", "--locks", server.URL(), "--", "true"}},
		{"oid lock, in files", []string{oid, "lock", "x", "--locks", "file:" + folder, "--", "true"}},
		{"bsm/redislock, a program of 25 lines", []string{build(".", "./oneshot"), strings.TrimPrefix(server.URL(), "redis://"), "true"}},
		{"flock", []string{"flock", file, "true"}},
		{"true", []string{"true"}},
	}
	processor, took, commands := make([][]float64, len(subjects)), make([][]float64, len(subjects)), make([]int, len(subjects))
	for range runs {
		for i, s := range subjects {
			server.CLI("CONFIG", "RESETSTAT")
			cmd, began := exec.Command(s.command[0], s.command[1:]...), time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", s.name, err, out)
			}
			took[i] = append(took[i], time.Since(began).Seconds()*1e3)
			used := cmd.ProcessState.SysUsage().(*syscall.Rusage) // with its children
			processor[i] = append(processor[i], float64(used.Utime.Nano()+used.Stime.Nano())/1e6)
			commands[i] = calls(server)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "A command that does nothing, run under a lock. Processor time is that of all processes, without Redis. oid runs a second process, which ends the command if oid is killed. Medians of %d rounds; commands of Redis of the last.\n\n| run | ms of processor time | ms until its end | commands of Redis |\n|---|---:|---:|---:|\n", runs)
	for i, s := range subjects {
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %d |\n", s.name, page.Median(processor[i]), page.Median(took[i]), max(0, commands[i]-1))
	}
	if *output == "" {
		t.Log(b.String())
	} else if err := page.Write(*output, "One-shot locks", "make bench-lock", b.String()); err != nil {
		t.Fatal(err)
	}
}
