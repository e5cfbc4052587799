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
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const title = `# Measurements

Each section was written on its day by the command that it names; "make bench" writes all. Machines
differ and are noisy: compare the ratios within a table.

The peers are set up for speed, and are whole processes where people run processes.
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
// which command and on what machine the figures were obtained. body is Markdown. Ratios
// that differ from those of the page before go to standard error.
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
	fmt.Fprint(os.Stderr, Changes(string(old), section))
	before, rest, found := bytes.Cut(old, []byte("\n## "+name+"\n"))
	after := []byte(nil)
	if found {
		if i := bytes.Index(rest, []byte("\n## ")); i >= 0 {
			after = rest[i:]
		}
	}
	return os.WriteFile(path, append(append(bytes.Clone(before), section...), after...), 0o644)
}

// noise is by how much a ratio may differ from the one of the page before.
const noise = 0.1

// Changes lists the ratios of section that differ from those of the old page by more than
// noise.
func Changes(old, section string) string {
	before := ratios(old)
	var list []string
	for name, now := range ratios(section) {
		if was, ok := before[name]; ok && math.Abs(now-was) > noise*was {
			list = append(list, fmt.Sprintf("- %s: %g, was %g\n", name, now, was))
		}
	}
	if list == nil {
		return ""
	}
	slices.Sort(list)
	return fmt.Sprintf("\nRatios that differ by more than %g %% from the page before:\n\n%s", 100*noise, strings.Join(list, ""))
}

// ratios returns the values in the columns "ratio" of the tables of a page, and behind the
// commas of tables of something "and ratio", by the heads of their tables and rows.
func ratios(text string) map[string]float64 {
	found := map[string]float64{}
	var head []string
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			head = nil
		case head == nil:
			head = cells
		case len(cells) == len(head):
			for i, column := range head {
				table, cell := strings.TrimSpace(head[0]), cells[i]
				if _, ratio, both := strings.Cut(cell, ", "); both && strings.HasSuffix(table, " and ratio") {
					table, cell = strings.TrimSpace(column), ratio
				} else if strings.TrimSpace(column) != "ratio" {
					continue
				}
				if n, err := strconv.ParseFloat(strings.TrimSpace(cell), 64); err == nil {
					found[table+": "+strings.TrimSpace(cells[0])] = n
				}
			}
		}
	}
	return found
}

var number = regexp.MustCompile(`\d+(\.\d+)+`)

// Versions returns the versions that programs tell.
func Versions(programs ...string) string {
	var versions []string
	for _, p := range programs {
		out, err := exec.Command(p, "--version").Output()
		version := number.FindString(string(out))
		if err != nil || version == "" {
			version = "of unknown version"
		}
		versions = append(versions, filepath.Base(p)+" "+version)
	}
	return "Versions: " + strings.Join(versions, ", ") + "."
}

// Machine describes this machine in a few words, with its load average of the last minute: of
// one that did other things meanwhile the processor times count, and the ratios.
func Machine() string {
	cpu := "unknown processor"
	if out, err := exec.Command("sh", "-c", "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1").Output(); err == nil && len(out) > 0 {
		cpu = strings.TrimSpace(string(out))
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(text), " ")
	}
	return fmt.Sprintf("%s, %d cores, %s, %s/%s, load %s", cpu, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, load)
}
