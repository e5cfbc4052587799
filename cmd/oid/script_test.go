package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oidkit/oid/internal/testenv"
)

// TestMain lets the scripts run the command as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"oid": main})
}

// tests are run in the process that is not the command.
type tests struct{ *testing.M }

func (t tests) Run() int {
	testenv.HeedSignals()
	return t.M.Run()
}

// TestScripts runs testdata/*.txtar. With UPDATE=1 in the environment it rewrites
// the files that outputs are compared with.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", os.Getenv("GORACE")) // see the Makefile
			return nil
		},
	})
}
