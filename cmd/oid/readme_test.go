package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block finds the fenced blocks of a Markdown text.
var block = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

func readme(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 200 {
		t.Errorf("README.md has %d lines, want 200 at most", n)
	}
	var blocks []string
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	if blocks == nil {
		t.Fatalf("README.md has no %s block", language)
	}
	return blocks
}

// changing is what differs from one run to the next.
var changing = regexp.MustCompile(`\b[0-9a-f]{24}\b|\b[0-9a-f]{10}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ (?:year|day|hour|minute|second)s? ago|go1[.\d]+ \w+/\w+|\(devel\)|v0\.0\.0\S*`)

// Every command of the README's sessions, run in order, prints what stands there:
// ids, times and versions aside, which only have to be there.
func TestReadmeSessions(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "oid"), ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	work, home := t.TempDir(), t.TempDir()
	if err := os.Symlink(filepath.Join(bin, "oid"), filepath.Join(work, "oid")); err != nil {
		t.Fatal(err)
	}
	for _, session := range readme(t, "console") {
		for step := range strings.SplitSeq(strings.TrimPrefix(session, "$ "), "\n$ ") {
			command, want, _ := strings.Cut(strings.TrimSuffix(step, "\n"), "\n")
			switch command {
			case "go build ./cmd/oid", "go install ./cmd/oid":
				continue // done above
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(command, "go run ./cmd/oid", "oid"))
			cmd.Dir = work
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+home, "XDG_DATA_HOME="+home)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("$ %s: %v\n%s", command, err, out)
				continue
			}
			got := strings.TrimSuffix(string(out), "\n")
			if changing.ReplaceAllString(got, "~") != changing.ReplaceAllString(want, "~") {
				t.Errorf("$ %s\nprints\n%s\nand in the README\n%s", command, got, want)
			}
		}
	}
}

// The README's Go is taken from the examples, which are compiled and run.
func TestReadmeGoIsFromExamples(t *testing.T) {
	var examples strings.Builder
	files, err := filepath.Glob("../../*/example*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	engines, err := filepath.Glob("../../*/*/example*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, engines...)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples.Write(text)
	}
	for _, code := range readme(t, "go") {
		indented := "\t" + strings.ReplaceAll(strings.TrimSuffix(code, "\n"), "\n", "\n\t")
		indented = strings.ReplaceAll(indented, "\n\t\n", "\n\n")
		if !strings.Contains(examples.String(), indented) {
			t.Errorf("in no example:\n%s", code)
		}
	}
}
