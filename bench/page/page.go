// Package page keeps docs/benchmarks.md: one section for each command that
// measures, rewritten by that command alone.
package page

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

const title = `# Measurements

Every section is written by the command that it names. Machines differ and are
noisy: compare the ratios within a table, not its times with another machine's.
`

// Write puts a section into the file at path, in place of the section of the same
// name if there is one, at the end otherwise. Below the heading it says when, with
// which command and on what machine the figures were obtained. body is Markdown.
func Write(path, name, command, body string) error {
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
