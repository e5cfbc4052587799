// Command census measures "oid census" beside the tools that read dumps and
// exports today: bsondump for .bson, jq and DuckDB for JSON lines, and DuckDB for a list of
// ids. A program that only reads the file shows what is the least.
//
// All are whole processes that read the same file from the page cache and write
// to nowhere, one after the other in each round. bsondump prints every document
// and jq every _id, which is what either must do before anything can be counted;
// DuckDB counts the different ids; oid census has the finished report. The client of a
// database prints the same column of a table. The program that packed a file unpacks it,
// alone and for oid census. bsondump is built from the module in mongotools, jq is installed
// with apt-get if it is not there, and DuckDB with npm.
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
	rounds := flag.Int("rounds", 7, "rounds")
	documents := flag.Int("n", 3_400_000, "documents of each dump and export; the list has three times as many ids")
	only := flag.String("only", "", "measure only this: tables (of databases), packed (files) or memory")
	read := flag.String("read", "", "only read this `file`, on all processors: what measuring compares with")
	flag.Parse()
	if *read != "" {
		if err := readAlone(*read); err != nil {
			log.Fatal(err)
		}
		return
	}
	body, err := measure(*rounds, *documents, *only)
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
	n     int                                  // documents
	size  int                                  // of a document in bytes
	write func(w io.Writer, n, size int) error // nil if the documents are rows of a table
	runs  []command
}

type command struct {
	name string
	argv func(file string) []string
}

func measure(rounds, n int, only string) (string, error) {
	dir, err := os.MkdirTemp("", "oid-bench-census")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	oid, bsondump, jq := filepath.Join(dir, "oid"), filepath.Join(dir, "bsondump"), "jq"
	if err := build(oid, "..", "./cmd/oid"); err != nil {
		return "", err
	}
	census := command{"oid census", func(file string) []string { return []string{oid, "census", file} }}
	switch only {
	case "tables":
		return measureTables(dir, oid, rounds)
	case "memory":
		return measureMemory(dir, oid, 3_000_000)
	case "packed":
		return results(dir, rounds, packed(oid, census, n/4))
	}
	if err := errors.Join(
		build(bsondump, "census/mongotools", "github.com/mongodb/mongo-tools/bsondump/main"),
		installJQ(),
	); err != nil {
		return "", err
	}
	duck, err := page.InstallDuckDB(dir)
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	dump := command{"bsondump", func(file string) []string { return []string{bsondump, "--quiet", file} }}
	lines := command{`jq -r '._id["$oid"]'`, func(file string) []string { return []string{jq, "-r", `._id["$oid"]`, file} }}
	reading := command{"read alone", func(file string) []string { return []string{self, "-read", file} }}
	distinct := func(name, query string) command {
		return command{"DuckDB, " + name, func(file string) []string {
			return duck(strings.ReplaceAll(query, "FILE", file))
		}}
	}
	duckDB := distinct("count(distinct id)", "select count(distinct id) from read_csv('FILE', header = false, columns = {'id': 'varchar'}, auto_detect = false)")
	// With the columns and the format named, as its guide to performance says.
	readJSON := distinct("read_json, count(distinct id)", `select count(distinct _id."$oid") from read_json('FILE', format = 'newline_delimited', columns = {_id: 'STRUCT("$oid" VARCHAR)'})`)
	contests := []contest{
		{"mongodump .bson", n, 180, writeBSON, []command{census, reading, dump}},
		{"mongoexport JSON lines", n, 180, writeJSON, []command{census, reading, lines, readJSON}},
		{"list of ids", 3 * n, 25, writeList, []command{census, reading, duckDB}},
	}
	contests = append(contests, packed(oid, census, n/4)...)
	var body strings.Builder
	fmt.Fprintf(&body, "Files in the page cache, whole processes, medians of %d in turns. user, system: processor time. ratio: the median of the ratios to oid census. MB: of the file, packed if it is. DuckDB only counts the different ids. Left out: mongoimport, which reads all into a server first. %s DuckDB %s, bsondump of bench/census/mongotools.\n", rounds, page.Versions("jq"), page.DuckDBVersion)
	files, err := results(dir, rounds, contests)
	if err != nil {
		return "", err
	}
	tables, err := measureTables(dir, oid, rounds)
	if err != nil {
		return "", err
	}
	memory, err := measureMemory(dir, oid, 3_000_000)
	return body.String() + files + tables + "\n" + memory, err
}

// results runs the contests and returns their tables.
func results(dir string, rounds int, contests []contest) (string, error) {
	var body strings.Builder
	for _, c := range contests {
		table, err := c.run(dir, rounds)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&body, "\n%s", table)
		fmt.Fprintf(os.Stderr, "%s done\n", c.name)
	}
	return body.String(), nil
}

// run writes the file, lets all programs read it, and returns the table.
func (c contest) run(dir string, rounds int) (table string, err error) {
	file, size := filepath.Join(dir, "documents"), int64(c.n*c.size)
	if c.write != nil {
		if size, err = writeFile(file, func(w io.Writer) error { return c.write(w, c.n, c.size) }); err != nil {
			return "", err
		}
		defer os.Remove(file)
	}
	times := make([][]float64, len(c.runs))
	user, system := make([][]float64, len(c.runs)), make([][]float64, len(c.runs))
	for round := range rounds + 1 {
		for i, r := range c.runs {
			argv := r.argv(file)
			began := time.Now()
			cmd := exec.Command(argv[0], argv[1:]...)
			if err := cmd.Run(); err != nil {
				return "", fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
			}
			if round > 0 { // the first one warms up
				times[i] = append(times[i], time.Since(began).Seconds())
				user[i] = append(user[i], cmd.ProcessState.UserTime().Seconds())
				system[i] = append(system[i], cmd.ProcessState.SystemTime().Seconds())
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s, %d of %d bytes, %d MB | s | MB/s | user s | system s | ratio |\n|---|---:|---:|---:|---:|---:|\n", c.name, c.n, c.size, size/1e6)
	for i, r := range c.runs {
		ratios := make([]float64, rounds)
		for k := range ratios {
			ratios[k] = times[i][k] / times[0][k]
		}
		fmt.Fprintf(&b, "| %s | %.3f | %.0f | %.3f | %.3f | %.2f |\n", r.name, page.Median(times[i]), float64(size)/1e6/page.Median(times[i]), page.Median(user[i]), page.Median(system[i]), page.Median(ratios))
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
