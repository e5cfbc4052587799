package testenv

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

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
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(state, "%s %d\n%s", name, len(text), text)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "oid-testenv")
	program := filepath.Join(folder, fmt.Sprintf("%s-%x", name, state.Sum(nil)[:8]))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	// Other test programs may build at the same time: only a complete program
	// gets the name.
	part := fmt.Sprintf("%s.%d", program, os.Getpid())
	defer os.Remove(part)
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", part, ".")...)
	build.Dir = source
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, os.Rename(part, program)
}

// nested returns the folder of a module beside this file.
func nested(name string) (string, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/oidkit/oid/internal/testenv").Output()
	if err != nil {
		return "", fmt.Errorf("find the source of %s: %w", name, err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), name), nil
}
