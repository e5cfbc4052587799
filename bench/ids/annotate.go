package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/oidkit/oid/bench/page"
)

// logSize is the least size of the logs that are annotated.
const logSize = 248_000_000

// program is a command line that is measured as a whole process.
type program struct {
	name     string
	args     []string
	searches bool // it ends with 1 if it finds nothing
}

// alternate runs the programs in turn and returns the seconds that each took in each
// round, after one that does not count.
func alternate(rounds int, programs []program) ([][]float64, error) {
	took := make([][]float64, len(programs))
	for round := range rounds + 1 {
		for k := range programs {
			p := programs[(k+round)%len(programs)]
			began := time.Now()
			cmd := exec.Command(p.args[0], p.args[1:]...)
			cmd.Env = append(os.Environ(), "LC_ALL=C") // grep and sed are many times slower in UTF-8
			out, err := cmd.StdoutPipe()               // a pipe: grep stops early where the output is nothing
			if err != nil {
				return nil, err
			}
			if err := cmd.Start(); err != nil {
				return nil, err
			}
			if _, err := bufio.NewReaderSize(out, 1<<20).WriteTo(discard{}); err != nil {
				return nil, err
			}
			if err := cmd.Wait(); err != nil && !(p.searches && cmd.ProcessState.ExitCode() == 1) {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			if round > 0 {
				i := (k + round) % len(programs)
				took[i] = append(took[i], time.Since(began).Seconds())
			}
		}
	}
	return took, nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// ratio returns the median of the rounds' ratios of a to b.
func ratio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range ratios {
		ratios[i] = a[i] / b[i]
	}
	return page.Median(ratios)
}

// buildOID builds the command into dir. It runs without a registry: the user's would be
// asked about each id.
func buildOID(dir string) (string, error) {
	os.Setenv("OID_STORE", "")
	os.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	command := filepath.Join(dir, "oid")
	build := exec.Command("go", "build", "-o", command, "./cmd/oid")
	build.Dir, build.Stderr = "..", os.Stderr
	return command, build.Run()
}

// annotateTable measures oid annotate, and programs that search the same logs.
func annotateTable(rounds int) (string, error) {
	dir, err := os.MkdirTemp("", "oid-bench")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	oid, err := buildOID(dir)
	if err != nil {
		return "", err
	}
	rg, err := installRipgrep(dir)
	if err != nil {
		return "", err
	}
	const id = `\b[0-9a-f]{24}\b`
	var b strings.Builder
	fmt.Fprintf(&b, "Access logs of 248 MB in the page cache, written into a pipe, medians of %d. ratio: below 1 oid is faster. rg -o and grep print only the ids. LC_ALL=C. Left out: rg over several files at once, as this is one. %s\n",
		rounds, page.Versions(rg, "grep", "sed"))
	head, line := "| MB/s and ratio |", "|---|"
	var rows []string
	for _, l := range []struct {
		name    string
		trace   bool
		idEvery int
	}{
		{"a trace id in each line, an id in each tenth", true, 10},
		{"no ids", false, 0},
		{"an id in each line", false, 1},
	} {
		file := filepath.Join(dir, "log")
		if err := writeLog(file, l.trace, l.idEvery); err != nil {
			return "", err
		}
		programs := []program{
			{"oid annotate", []string{oid, "annotate", file}, false},
			{"rg -o", []string{rg, "-o", id, file}, true},
			{"grep -oP", []string{"grep", "-oP", id, file}, true},
			{"rg --passthru -r '<$0>'", []string{rg, "--passthru", "-r", "<$0>", id, file}, true},
			{"sed -E 's/id/<&>/g'", []string{"sed", "-E", "s/" + id + "/<&>/g", file}, false},
			{"cat", []string{"cat", file}, false},
		}
		took, err := alternate(rounds, programs)
		if err != nil {
			return "", err
		}
		head, line = head+" "+l.name+" |", line+"---:|"
		for i, p := range programs {
			if len(rows) == i {
				rows = append(rows, "| "+p.name+" |")
			}
			rows[i] += fmt.Sprintf(" %.0f, %.2f |", logSize/1e6/page.Median(took[i]), ratio(took[0], took[i]))
		}
	}
	fmt.Fprintf(&b, "\n%s\n%s\n%s\n", head, line, strings.Join(rows, "\n"))
	return b.String(), nil
}

// installRipgrep returns the path of ripgrep, which npm puts into dir.
func installRipgrep(dir string) (string, error) {
	if out, err := exec.Command("npm", "install", "--prefix", dir, "@vscode/ripgrep@1.18.0").CombinedOutput(); err != nil {
		return "", fmt.Errorf("install ripgrep: %w\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(dir, "node_modules/@vscode/ripgrep*/bin/rg"))
	if err != nil || found == nil {
		return "", fmt.Errorf("npm has installed no rg, %w", err)
	}
	return found[0], nil
}

// agents are programs that ask a server.
var agents = []string{
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
	"curl/8.5.0", "kube-probe/1.29",
}

// writeLog writes an access log with an id in every n-th line, or in none if n is 0, and
// with 32 hexadecimal digits that are no id in each if trace is set.
func writeLog(path string, trace bool, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for size, i := 0, 0; size < logSize; i++ {
		id, end := "", "-"
		if n > 0 && i%n == 0 {
			id = fmt.Sprintf("/6901%04x%016x", uint16(random.Uint32()), random.Uint64())
		}
		if trace {
			end = fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64())
		}
		wrote, err := fmt.Fprintf(w, "10.0.%d.%d - - [20/Nov/2026:12:%02d:%02d +0000] \"GET /api/v1/orders%s HTTP/1.1\" %d %d \"-\" \"%s\" %.3f %s\n",
			i%256, i%77, i/60000%60, i/1000%60, id, 200+random.IntN(2)*204, random.IntN(1<<16), agents[random.IntN(len(agents))], random.Float64(), end)
		if err != nil {
			return err
		}
		size += wrote
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
