package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestWindowsScripts runs testdata/windows/*.txtar: sessions with the shell and the paths of
// Windows. Those of testdata are for the shell and the programs of Unix.
func TestWindowsScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/windows",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("LocalAppData", e.WorkDir+`\local data`)
			return nil
		},
	})
}
