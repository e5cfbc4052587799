// Command drivers judges the ObjectId libraries of many languages and writes docs/drivers.md.
// It runs in the folder above; "make drivers" does so.
//
// A library that is not installed gets a row with the reason instead of results.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/examples/verify/internal/judge"
)

// notRun is the reason that the page gives for a test without a result: -only left it
// out, and no earlier run had it.
const notRun = "not run"

// noJSON is the reason for libraries that read JSON by other means, or not at all.
const noJSON = "no JSON"

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
				return noJSON
			}
			return ""
		}},
	}
}

// row is the judgement on one library.
type row struct {
	adapter adapter
	Name    string
	Version string
	Missing string `json:",omitempty"` // why it could not be built
	Command []string
	Results []result
}

// result is the judgement of one test, or why there is none.
type result struct {
	Test   string
	Not    string `json:",omitempty"`
	Failed string `json:",omitempty"`
	Judged judge.Verification
}

func main() {
	log.SetFlags(0)
	out := flag.String("o", "", "write the page to this `FILE` (default standard output)")
	only := flag.String("only", "", "run the libraries whose names match this `PATTERN`; take the others from -results")
	which := flag.String("test", "", "run the tests whose names match this `PATTERN`; take the others from -results")
	verify := flag.String("verify", "", "use this `PROGRAM` (default: built from this folder)")
	results := flag.String("results", "", "keep the results in this `FILE`")
	full := flag.Int("full", fullSecond, "ids in the full second")
	limit := flag.Duration("limit", 10*time.Minute, "longest time for one test")
	flag.Parse()
	libraries, err := regexp.Compile(*only)
	if err != nil {
		log.Fatal(err)
	}
	names, err := regexp.Compile(*which)
	if err != nil {
		log.Fatal(err)
	}
	kept := map[string]row{}
	if text, err := os.ReadFile(*results); err == nil {
		if err := json.Unmarshal(text, &kept); err != nil {
			log.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "oid-drivers")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if *verify == "" {
		*verify = filepath.Join(dir, "verify")
		build := exec.Command("go", "build", "-o", *verify, ".")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			log.Fatal(err)
		}
	}
	for _, a := range adapters {
		if !libraries.MatchString(a.name()) {
			continue
		}
		kept[a.name()] = judgeLibrary(*verify, dir, a, tests(*full), names, *limit, kept[a.name()].Results)
		// After each library: the whole takes minutes.
		text, err := json.MarshalIndent(kept, "", "\t")
		if err != nil {
			log.Fatal(err)
		}
		save(*results, string(text))
		save(*out, page(kept))
	}
	if *out == "" {
		fmt.Print(page(kept))
	}
}

// save writes a file, unless it has no name.
func save(file, text string) {
	if file == "" {
		return
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

// judgeLibrary runs the tests with some names on one library. before are the
// results of the others.
func judgeLibrary(verify, dir string, a adapter, tests []test, names *regexp.Regexp, limit time.Duration, before []result) row {
	r := row{Name: a.name()}
	command, err := a.build(dir)
	if err != nil {
		r.Missing = err.Error()
		return r
	}
	r.Command = shown(dir, command)
	version, err := exec.Command(a.versionOf[0], a.versionOf[1:]...).Output()
	if err != nil {
		r.Missing = fmt.Sprintf("%s: %v", strings.Join(a.versionOf, " "), err)
		return r
	}
	r.Version = strings.TrimSpace(string(version))
	for _, t := range tests {
		res := result{Test: t.name, Not: t.not(a)}
		switch {
		case res.Not != "":
		case !names.MatchString(t.name):
			res.Not = notRun
			for _, r := range before {
				if r.Test == t.name {
					res = r
				}
			}
		default:
			began := time.Now()
			res.Judged, res.Failed = runTest(verify, t, command, limit)
			fmt.Fprintf(os.Stderr, "%s: %s in %.1f s\n", a.name(), t.name, time.Since(began).Seconds())
		}
		r.Results = append(r.Results, res)
	}
	return r
}

// runTest runs the judge once. failed is what it said if it has not judged.
func runTest(verify string, t test, command []string, limit time.Duration) (v judge.Verification, failed string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := slices.Concat([]string{"--json"}, t.flags, []string{"--"}, command)
	cmd := exec.CommandContext(ctx, verify, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends what it has started
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		return v, fmt.Sprintf("not done within %v", limit)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return v, err.Error()
	}
	if out.Len() == 0 {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return v, strings.TrimPrefix(lines[len(lines)-1], "verify: ")
	}
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		return v, err.Error()
	}
	return v, ""
}
