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

// logSize is the size of the logs that are annotated.
const logSize = 256 << 20

// annotateTable measures oid annotate, and programs that read the same logs.
func annotateTable(rounds int) (string, error) {
	dir, err := os.MkdirTemp("", "oid-bench")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	command := filepath.Join(dir, "oid")
	build := exec.Command("go", "build", "-o", command, "./cmd/oid")
	build.Dir, build.Stderr = "..", os.Stderr
	if err := build.Run(); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| reading a log of 256 MiB, MB/s | no ids | an id in each tenth line | an id in each line |\n|---|---:|---:|---:|\n")
	logs := map[int]string{}
	every := []int{0, 10, 1}
	for _, n := range every {
		logs[n] = filepath.Join(dir, fmt.Sprint(n))
		if err := writeLog(logs[n], n); err != nil {
			return "", err
		}
	}
	for _, program := range []struct {
		name string
		args []string
	}{
		{"oid annotate", []string{command, "annotate"}},
		{"oid annotate --json", []string{command, "annotate", "--json"}},
		{"grep -E '[0-9a-f]{24}'", []string{"grep", "-E", "[0-9a-f]{24}"}},
		{"sed -E 's/[0-9a-f]{24}/<&>/g'", []string{"sed", "-E", "s/[0-9a-f]{24}/<&>/g"}},
		{"cat", []string{"cat"}},
	} {
		fmt.Fprintf(&b, "| %s |", program.name)
		for _, n := range every {
			var speeds []float64
			for range rounds {
				began := time.Now()
				cmd := exec.Command(program.args[0], append(program.args[1:len(program.args):len(program.args)], logs[n])...)
				out, err := cmd.StdoutPipe() // a pipe: grep stops early where the output is nothing
				if err != nil {
					return "", err
				}
				if err := cmd.Start(); err != nil {
					return "", err
				}
				if _, err := bufio.NewReaderSize(out, 1<<20).WriteTo(discard{}); err != nil {
					return "", err
				}
				_ = cmd.Wait() // grep exits with 1 if it finds nothing
				speeds = append(speeds, logSize/1e6/time.Since(began).Seconds())
			}
			fmt.Fprintf(&b, " %.0f |", page.Median(speeds))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// writeLog writes a log with an id in every n-th line, or in none if n is 0.
func writeLog(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for size, i := 0, 0; size < logSize; i++ {
		id := ""
		if n > 0 && i%n == 0 {
			id = fmt.Sprintf(" order=6b%06x%016x", random.Uint32()>>8, random.Uint64())
		}
		wrote, err := fmt.Fprintf(w, "2026-11-20T12:%02d:%02d.%03dZ INFO [worker-%d] request finished method=GET path=/api/v1/orders status=200 duration=%.2fms bytes=%d%s remote=10.0.%d.%d\n",
			i/60000%60, i/1000%60, i%1000, i%16, random.Float64()*100, random.IntN(1<<16), id, i%256, i%77)
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
