package testenv

import (
	"os/exec"
	"testing"
)

// What tests fetch or build once and keep is there before the others begin: the first
// time takes minutes, in which a test that waits for it shows nothing.
func TestFetch(t *testing.T) {
	Long(t, "builds and fetches programs")
	for what, fetch := range map[string]func(t *testing.T) error{
		"FerretDB":  func(*testing.T) error { _, err := buildFerretDB(); return err },
		"manifests": func(*testing.T) error { _, err := buildNested("manifests"); return err },
		"openapi":   func(*testing.T) error { _, err := buildNested("openapi"); return err },
		"generator": func(*testing.T) error { return exec.Command("go", "run", Generator, "-version").Run() },
		"axe":       func(t *testing.T) error { Axe(t); return nil },
		"mongosh":   func(t *testing.T) error { Mongosh(t); return nil },
		"linters":   func(t *testing.T) error { linters(t); return nil },
	} {
		t.Run(what, func(t *testing.T) {
			if err := fetch(t); err != nil {
				Missing(t, what+": "+err.Error())
			}
		})
	}
}
