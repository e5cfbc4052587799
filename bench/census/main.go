// Command census measures "oid census" beside the tools that read dumps and
// exports today: bsondump for .bson and jq for JSON lines.
//
// All are whole processes that read the same file from the page cache and write
// to nowhere, one after the other in each round. bsondump prints every document
// and jq every _id, which is what either must do before anything can be counted;
// oid census has the finished report. bsondump is built from the module in
// mongotools, and jq is installed with apt-get, if they are not there.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/oidkit/oid/bench/page"
)

func main() {
	log.SetFlags(0)
	out := page.Output()
	rounds := flag.Int("rounds", 5, "rounds")
	documents := flag.Int("n", 3_400_000, "documents of 180 bytes")
	flag.Parse()
	body, err := measure(*rounds, *documents)
	if err != nil {
		log.Fatal(err)
	}
	if err := page.Write(*out, "Census", "go run ./census", body); err != nil {
		log.Fatal(err)
	}
}

// contest is one file and the programs that read it; the first is oid.
type contest struct {
	name  string
	write func(w io.Writer, n int) error
	runs  []command
}

type command struct {
	name string
	argv func(file string) []string
}

func measure(rounds, n int) (string, error) {
	dir, err := os.MkdirTemp("", "oid-bench-census")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	oid, bsondump, jq := filepath.Join(dir, "oid"), filepath.Join(dir, "bsondump"), "jq"
	if err := errors.Join(
		build(oid, "..", "./cmd/oid"),
		build(bsondump, "census/mongotools", "github.com/mongodb/mongo-tools/bsondump/main"),
		installJQ(),
	); err != nil {
		return "", err
	}
	census := command{"oid census", func(file string) []string { return []string{oid, "census", file} }}
	contests := []contest{
		{"mongodump .bson", writeBSON, []command{census, {"bsondump", func(file string) []string { return []string{bsondump, "--quiet", file} }}}},
		{"mongoexport JSON lines", writeJSON, []command{census, {`jq -r '._id["$oid"]'`, func(file string) []string { return []string{jq, "-r", `._id["$oid"]`, file} }}}},
	}
	var body strings.Builder
	fmt.Fprintf(&body, "Files of %d documents of 180 bytes in the page cache, whole processes, medians of %d rounds in which each has its turn. ratio: the median of the rounds' ratios to oid census.\n", n, rounds)
	for _, c := range contests {
		table, err := c.run(dir, rounds, n)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&body, "\n%s", table)
		fmt.Fprintf(os.Stderr, "%s done\n", c.name)
	}
	return body.String(), nil
}

// run writes the file, lets all programs read it, and returns the table.
func (c contest) run(dir string, rounds, n int) (string, error) {
	file := filepath.Join(dir, "documents")
	size, err := writeFile(file, func(w io.Writer) error { return c.write(w, n) })
	if err != nil {
		return "", err
	}
	defer os.Remove(file)
	times := make([][]float64, len(c.runs))
	for round := range rounds + 1 {
		for i, r := range c.runs {
			argv := r.argv(file)
			began := time.Now()
			if err := exec.Command(argv[0], argv[1:]...).Run(); err != nil {
				return "", fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
			}
			if round > 0 { // the first one warms up
				times[i] = append(times[i], time.Since(began).Seconds())
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s, %d MB | s | MB/s | ratio |\n|---|---:|---:|---:|\n", c.name, size/1e6)
	for i, r := range c.runs {
		ratios := make([]float64, rounds)
		for k := range ratios {
			ratios[k] = times[i][k] / times[0][k]
		}
		fmt.Fprintf(&b, "| %s | %.3f | %.0f | %.1f |\n", r.name, page.Median(times[i]), float64(size)/1e6/page.Median(times[i]), page.Median(ratios))
	}
	return b.String(), nil
}

// build builds a package of the module in folder.
func build(program, folder, pkg string) error {
	cmd := exec.Command("go", "build", "-o", program, pkg)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

func installJQ() error {
	if _, err := exec.LookPath("jq"); err == nil {
		return nil
	}
	if out, err := exec.Command("apt-get", "install", "-y", "jq").CombinedOutput(); err != nil {
		return fmt.Errorf("install jq: %w\n%s", err, out)
	}
	return nil
}
