package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/oidkit/oid/bench/page"
)

// verifiedIDs is how many ids are judged.
const verifiedIDs = 10_000_000

// verifyTable measures oid verify, and programs that find repeats among the same ids.
func verifyTable(rounds int) (string, error) {
	dir, err := os.MkdirTemp("", "oid-bench")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	command, err := buildOID(dir)
	if err != nil {
		return "", err
	}
	ids := filepath.Join(dir, "ids")
	if out, err := exec.Command("sh", "-c", fmt.Sprintf("%s new -n %d > %s", command, verifiedIDs, ids)).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	n := fmt.Sprint(verifiedIDs)
	var b strings.Builder
	fmt.Fprintf(&b, "Left out: DuckDB, which is slower than sort.\n\n| judging %s ids that a program writes | million ids/s | memory, MiB |\n|---|---:|---:|\n", "10,000,000")
	for _, program := range []struct {
		name string
		ids  int
		args []string
	}{
		{"oid verify, one process", 1, []string{command, "verify", "--copies", "1", "--ids", n, "--", "cat", ids}},
		{"oid verify, two processes of oid new", 2, []string{command, "verify", "--ids", n, "--", command, "new", "-n", n}},
		{"sort, uniq -d: repeats alone", 1, []string{"sh", "-c", "LC_ALL=C sort " + ids + " | uniq -d"}},
		{"sort -c -u: repeats alone, of ids in order", 1, []string{"sh", "-c", "LC_ALL=C sort -c -u " + ids}},
		{"awk 'seen[$0]++': repeats alone", 1, []string{"awk", "seen[$0]++", ids}},
		{"wc -l: reading alone", 1, []string{"sh", "-c", "cat " + ids + " | wc -l"}},
	} {
		var speeds []float64
		var memory int64
		for range rounds {
			began := time.Now()
			cmd := exec.Command(program.args[0], program.args[1:]...)
			cmd.Stderr = os.Stderr
			err := cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 { // ids of a file are older than they may be
				return "", fmt.Errorf("%s: %w", program.name, err)
			}
			speeds = append(speeds, float64(program.ids)*verifiedIDs/1e6/time.Since(began).Seconds())
			// That of the largest of its processes; other systems count in other units.
			if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
				memory = max(memory, usage.Maxrss>>10)
			}
		}
		fmt.Fprintf(&b, "| %s | %.1f | %d |\n", program.name, page.Median(speeds), memory)
	}
	return b.String(), nil
}
