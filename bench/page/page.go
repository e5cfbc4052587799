// Package page has what commands that measure share: the flag that says where to
// write, medians, and docs/benchmarks.md with one section for each command,
// rewritten by that command alone.
package page

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

const title = `# Measurements

Every section is written by the command that it names. Machines differ and are
noisy: compare the ratios within a table, not its times with another machine's.
`

// Output defines the flag -o, the path for [Write].
func Output() *string {
	return flag.String("o", "", "`file` of measurements to write the section to (default: standard output)")
}

// Median returns the median of x, which is not empty.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// Write puts a section into the file at path, in place of the section of the same
// name if there is one, at the end otherwise. An empty path is standard output. Below the heading it says when, with
// which command and on what machine the figures were obtained. body is Markdown.
func Write(path, name, command, body string) error {
	if path == "" {
		_, err := fmt.Print(body)
		return err
	}
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte(title), nil
	}
	if err != nil {
		return err
	}
	section := fmt.Sprintf("\n## %s\n\n%s, `%s`, %s\n\n%s\n", name, time.Now().UTC().Format(time.DateOnly), command, Machine(), strings.TrimSpace(body))
	before, rest, found := bytes.Cut(old, []byte("\n## "+name+"\n"))
	after := []byte(nil)
	if found {
		if i := bytes.Index(rest, []byte("\n## ")); i >= 0 {
			after = rest[i:]
		}
	}
	return os.WriteFile(path, append(append(bytes.Clone(before), section...), after...), 0o644)
}

// Machine describes this machine in a few words.
func Machine() string {
	cpu := "unknown processor"
	if out, err := exec.Command("sh", "-c", "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1").Output(); err == nil && len(out) > 0 {
		cpu = strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("%s, %d cores, %s, %s/%s", cpu, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
