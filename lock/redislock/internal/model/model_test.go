// Package model has the lease and the queue of package redislock as models for the
// checker Spin. README.md describes them.
package model

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// page describes the models.
const page = "README.md"

// checks are all variants of the models, in the order of the page.
var checks = []struct {
	model, variant string
	fails          bool
}{
	{"lease", "", false},
	{"lease", "REDIS_FORGETS", false},
	{"lease", "DEADLINE_FROM_REPLY", true},
	{"lease", "LEASE_FROM_MESSAGE", true},
	{"lease", "NO_NONCE", true},
	{"lease", "FENCE_FORGOTTEN", true},
	{"lease", "OWNER_IS_CLIENT", true},
	{"lease", "RENEWAL_UNCHECKED", true},
	{"lease", "RENEWAL_WITHOUT_FENCE", true},
	{"lease", "GROUP_UNCHECKED", true},
	{"lease", "GROUP_STALE", true},
	{"lease", "GUESS_NOT_COMPARED", true},
	{"lease", "PASSED", false},
	{"lease", "PASSED_FROM_REPLY", true},
	{"lease", "PASSED_TO_CLIENT", true},
	{"queue", "", false},
	{"queue", "NO_TIMER", true},
	{"queue", "NO_ROLL_CALL", true},
	{"queue", "NO_NEW_ASK", true},
	{"queue", "ONLY_HEAD", true},
	{"queue", "ANY_PROCESS", true},
	{"queue", "NO_SCAN", true},
	{"queue", "DROPPED", true},
	{"queue", "BY_CLIENT", false},
	{"queue", "BY_CLIENT_NO_POLL", true},
	{"queue", "LOCAL", false},
	{"queue", "LOCAL_FORGOTTEN", true},
	{"queue", "LOCAL_FIRST", true},
}

// few are the checks of "go test ./...", which leaves out the others, see [testenv.Whole].
var few = []string{"lease NO_NONCE", "queue", "queue NO_TIMER"}

// commands returns the page's commands, by which a model is checked.
func commands(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```sh\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("%s has no block of commands", page)
	}
	return block
}

// check runs the page's commands for a variant of a model and returns what the
// checker says. The checker of a variant that fails ends soon: to compile it is nearly
// all the work, and is done without optimization.
func check(t *testing.T, model, variant string, fails bool) string {
	t.Helper()
	testenv.Long(t, "searches a model")
	for program, pkg := range map[string]string{"spin": "spin", "gcc": "gcc libc6-dev"} {
		if _, err := exec.LookPath(program); err != nil {
			testenv.Missing(t, program+" is not installed: apt-get install "+pkg)
		}
	}
	folder := t.TempDir()
	text, err := os.ReadFile(model + ".pml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, model+".pml"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(commands(t), "lease.pml", model+".pml")
	script = strings.ReplaceAll(script, "cd lock/redislock/internal/model\n", "")
	if variant != "" {
		script = strings.ReplaceAll(script, "spin -a", "spin -D"+variant+" -a")
	}
	if fails {
		script = strings.ReplaceAll(script, " -O1 ", " -O0 ")
	}
	run := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
	run.Dir = folder
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

var (
	errors = regexp.MustCompile(`errors: (\d+)`)
	states = regexp.MustCompile(`(\d+) states, stored`)
	failed = regexp.MustCompile(`assertion violated`)
)

// The models hold, and every variant that is spoiled on purpose is found out. All
// states are searched.
func TestModels(t *testing.T) {
	for _, c := range checks {
		name := strings.TrimSuffix(c.model+" "+c.variant, " ")
		if !testenv.Whole() && !slices.Contains(few, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := check(t, c.model, c.variant, c.fails)
			found := errors.FindStringSubmatch(out)
			if found == nil || (found[1] != "0") != c.fails || failed.MatchString(out) != c.fails {
				t.Fatalf("want errors: %v; the checker says:\n%s", c.fails, out)
			}
			if !c.fails && (strings.Contains(out, "not completed") || strings.Contains(out, "too small") || strings.Contains(out, "out of memory")) {
				t.Fatalf("not all states were searched:\n%s", out)
			}
			t.Logf("%s states", states.FindStringSubmatch(out)[1])
		})
	}
}

// Every switch in a model is a variant that is checked and that the page describes.
func TestEveryVariantIsChecked(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	checked := make(map[string]bool)
	for _, c := range checks {
		checked[c.model+" "+c.variant] = true
		if !strings.Contains(string(text), "| "+strings.TrimSuffix(c.model+" `"+c.variant+"`", " ``")+" |") {
			t.Errorf("the page has no row for %s %s", c.model, c.variant)
		}
	}
	for _, model := range []string{"lease", "queue"} {
		source, err := os.ReadFile(model + ".pml")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^#ifn?def (\w+)$`).FindAllStringSubmatch(string(source), -1) {
			switch m[1] {
			case "TTL", "WAITERS", "PROCESSES", "FAULTS":
				continue // sizes
			}
			if !checked[model+" "+m[1]] {
				t.Errorf("%s.pml: nobody checks %s", model, m[1])
			}
		}
	}
}
