package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// A session of the page: a console block, and in it a command with what the command prints.
var (
	session = regexp.MustCompile("(?s)```console\n(.*?)```\n")
	took    = regexp.MustCompile(` in \d+\.\d s\b`)
)

// The commands of the page on judging a generator print what is written there.
func TestHowTo(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	page, err := os.ReadFile("../../docs/how-to/verify-a-generator.md")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	commands := 0
	for _, block := range session.FindAllStringSubmatch(string(page), -1) {
		for step := range strings.SplitSeq(strings.TrimPrefix(block[1], "$ "), "\n$ ") {
			command, want, _ := strings.Cut(strings.TrimSuffix(step, "\n"), "\n")
			commands++
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
			switch cmd.Dir = work; command {
			case "git clone https://github.com/oidkit/oid && cd oid/examples/verify":
				continue // this is a clone
			case "go build -o verify .":
				cmd.Args[2] = "go build -o " + filepath.Join(work, "verify") + " ."
				cmd.Dir = ""
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("$ %s: %v\n%s", command, err, out)
				continue
			}
			if got := strings.TrimSuffix(string(out), "\n"); took.ReplaceAllString(got, "~") != took.ReplaceAllString(want, "~") {
				t.Errorf("$ %s\nprints\n%s\nand in the page\n%s", command, got, want)
			}
		}
	}
	if commands < 4 {
		t.Errorf("%d commands were found in the page", commands)
	}
}
