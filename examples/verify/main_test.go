package main

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oidkit/oid/internal/testenv"
)

// TestMain lets the tests run the judge as a process of its own, by the name verify.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"verify": main})
}

// tests are run in the process that is not the judge.
type tests struct{ *testing.M }

// Run builds oid, the generator that most tests judge.
func (t tests) Run() int {
	testenv.HeedSignals()
	bin, err := os.MkdirTemp("", "oid-verify-tests-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(bin)
	build := exec.Command("go", "build", "-o", bin, "./cmd/oid")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build ./cmd/oid: %v\n%s", err, out)
		return 1
	}
	os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return testenv.Main(t.M)
}

// TestScripts runs testdata/*.txtar.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true})
}
