package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/oidkit/oid/objectid"
)

// memoryLimit is what "oid census" is told to use, in MiB.
const memoryLimit = 100

// measureMemory returns a table of the most memory that "oid census --memory" takes, for n ids of
// one process value and of n, in a month and in 17 years.
func measureMemory(dir, oid string, n int) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "| oid census --memory %dMiB, %d ids | peak MiB |\n|---|---:|\n", memoryLimit, n)
	for _, values := range []int{1, 1000, n} {
		for _, days := range []int{30, 17 * 365} {
			file := filepath.Join(dir, "values")
			if _, err := writeFile(file, func(w io.Writer) error { return writeValues(w, n, values, days) }); err != nil {
				return "", err
			}
			cmd := exec.Command(oid, "census", "--memory", fmt.Sprintf("%dMiB", memoryLimit), file)
			if out, err := cmd.CombinedOutput(); err != nil {
				return "", fmt.Errorf("%v: %w\n%s", cmd, err, out)
			}
			peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
			fmt.Fprintf(&b, "| of %d process values in %d days | %d |\n", values, days, peak>>10)
			if err := os.Remove(file); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

// writeValues writes a list of n ids that processes with that many values create in turns.
func writeValues(w io.Writer, n, values, days int) error {
	random := rand.New(rand.NewPCG(1, 1))
	starts := make([]uint64, values)
	for i := range starts {
		starts[i] = random.Uint64()
	}
	var id objectid.ID
	for i := range n {
		binary.BigEndian.PutUint64(id[4:], starts[i%values]+uint64(i/values))
		binary.BigEndian.PutUint32(id[:], uint32(1_790_000_000-86400*days+i*86400*days/n))
		if _, err := fmt.Fprintln(w, id); err != nil {
			return err
		}
	}
	return nil
}
