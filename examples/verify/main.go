// Command verify runs oid verify on the ObjectId libraries of many languages and writes
// docs/drivers.md. It runs in its own folder; "make drivers" does so.
//
// A library that is not installed gets a row with the reason instead of results.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/server/wire"
)

// fullSecond is more ids than a counter has values.
const fullSecond = 1<<24 + 1_000_000

// test is a column of the table.
type test struct {
	name  string
	flags []string
	not   func(a adapter) string // why it cannot be run, or ""
}

func tests(full int) []test {
	clock := func(a adapter) string { return a.noClock }
	decode := func(a adapter) string { return a.noDecode }
	return []test{
		{"ids", nil, func(adapter) string { return "" }},
		{"full second", []string{"--ids", fmt.Sprint(full), "--copies", "1", "--clock", "frozen"}, clock},
		{"clock back", []string{"--clock", "back"}, clock},
		{"clock forward", []string{"--clock", "forward"}, clock},
		{"2038", []string{"--clock", "wrap"}, clock},
		{"2106", []string{"--clock", "end"}, clock},
		{"fork", []string{"--fork"}, func(a adapter) string { return a.noFork }},
		{"text", []string{"--decode"}, decode},
		{"JSON", []string{"--decode=json"}, func(a adapter) string {
			if !a.json {
				return "the library reads JSON by other means, or not at all"
			}
			return ""
		}},
	}
}

// row is the judgement on one library.
type row struct {
	adapter
	version string
	missing error // why it could not be built
	results []result
}

// result is the judgement of one test, or why there is none.
type result struct {
	test    test
	not     string
	failed  string
	judged  wire.Verification
	command []string
}

func main() {
	log.SetFlags(0)
	out := flag.String("o", "", "write the page to this `FILE` (default standard output)")
	only := flag.String("only", "", "run the libraries with this `WORD` in their name")
	full := flag.Int("full", fullSecond, "ids in the full second")
	flag.Parse()
	dir, err := os.MkdirTemp("", "oid-drivers")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	oid := filepath.Join(dir, "oid")
	build := exec.Command("go", "build", "-o", oid, "./cmd/oid")
	build.Dir, build.Stderr = "../..", os.Stderr
	if err := build.Run(); err != nil {
		log.Fatal(err)
	}
	var rows []row
	for _, a := range adapters {
		if strings.Contains(a.language+" "+a.library, *only) {
			rows = append(rows, judge(oid, dir, a, tests(*full)))
		}
	}
	page := write(rows)
	if *out == "" {
		fmt.Print(page)
	} else if err := os.WriteFile(*out, []byte(page), 0o644); err != nil {
		log.Fatal(err)
	}
}

// judge runs all tests on one library.
func judge(oid, dir string, a adapter, tests []test) row {
	r := row{adapter: a}
	command, err := a.build(dir)
	if err != nil {
		r.missing = err
		return r
	}
	version, err := exec.Command(a.versionOf[0], a.versionOf[1:]...).Output()
	if err != nil {
		r.missing = fmt.Errorf("%s: %w", strings.Join(a.versionOf, " "), err)
		return r
	}
	r.version = strings.TrimSpace(string(version))
	for _, t := range tests {
		res := result{test: t, not: t.not(a), command: command}
		if res.not == "" {
			began := time.Now()
			res.judged, res.failed = verify(oid, t, command)
			fmt.Fprintf(os.Stderr, "%s %s: %s in %.1f s\n", a.language, a.library, t.name, time.Since(began).Seconds())
		}
		r.results = append(r.results, res)
	}
	return r
}

// verify runs oid verify once. failed is what it said if it has not judged.
func verify(oid string, t test, command []string) (v wire.Verification, failed string) {
	args := slices.Concat([]string{"verify", "--json"}, t.flags, []string{"--"}, command)
	cmd := exec.Command(oid, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return v, err.Error()
	}
	if out.Len() == 0 {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return v, strings.TrimPrefix(lines[len(lines)-1], "oid: ")
	}
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		return v, err.Error()
	}
	return v, ""
}
