package testenv

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// programs are what tests build or fetch once and keep, all of which TestFetch makes.
var programs = map[string]func() (string, error){
	"FerretDB":  sync.OnceValues(func() (string, error) { return buildNested("ferretdb", "-tags", "ferretdb_no_postgresql") }),
	"manifests": func() (string, error) { return buildNested("manifests") },
	"openapi":   func() (string, error) { return buildNested("openapi") },
	"generator": generator,
}

// built returns the path of one of programs, or ends the test, see [Missing].
func built(t testing.TB, name string) string {
	t.Helper()
	Long(t, "builds "+name)
	path, err := programs[name]()
	if err != nil {
		Missing(t, fmt.Sprintf("%s cannot be built: %v; it needs the Go command and its module proxy (instead of FerretDB, OID_TEST_MONGODB may be the URL of a MongoDB server)", name, err))
	}
	return path
}

// buildNested builds the program in the module of that name beside this file, once
// for its present state, and returns the path of the program. Modules of their own
// keep what only tests need out of oid's go.mod.
func buildNested(name string, flags ...string) (string, error) {
	source, err := nested(name)
	if err != nil {
		return "", err
	}
	state := sha256.New()
	fmt.Fprintln(state, runtime.Version(), flags)
	files, err := filepath.Glob(filepath.Join(source, "*"))
	if err != nil {
		return "", err
	}
	for _, file := range files { // Glob sorts them
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(state, "%s %d\n%s", filepath.Base(file), len(text), text)
	}
	return cached(fmt.Sprintf("%s-%x", name, state.Sum(nil)[:8]), func(part string) *exec.Cmd {
		build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", part, ".")...)
		build.Dir = source
		build.Env = append(os.Environ(), "GOWORK=off")
		return build
	})
}

// nested returns the folder of a module beside this file.
func nested(name string) (string, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/oidkit/oid/internal/testenv").Output()
	if err != nil {
		return "", fmt.Errorf("find the source of %s: %w", name, err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), name), nil
}
