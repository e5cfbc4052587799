package imports

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// The module objectid requires no other module, and so has no go.sum. Its go line is the
// oldest that its code allows: vet knows in which version of Go each symbol of the standard
// library came. It accepts code and tests with this go line, and refuses the code with the
// version before.
func TestObjectidAsksForNothing(t *testing.T) {
	const oldest, tooOld = "1.24.0", "1.23.0" // Go 1.21.0 and 1.22.0 do not find a toolchain "1.24"
	folder := filepath.Join(root, "objectid")
	mod := testenv.Must(os.ReadFile(filepath.Join(folder, "go.mod")))(t)
	for _, line := range []string{"module github.com/oidkit/oid/objectid", "go " + oldest} {
		if !slices.Contains(strings.Split(string(mod), "\n"), line) {
			t.Errorf("objectid/go.mod has no line %q:\n%s", line, mod)
		}
	}
	if strings.Contains(string(mod), "require") {
		t.Errorf("objectid/go.mod requires a module:\n%s", mod)
	}
	if _, err := os.Stat(filepath.Join(folder, "go.sum")); err == nil {
		t.Error("objectid has a go.sum")
	}
	vet := func(version string) (string, error) {
		file := filepath.Join(t.TempDir(), "go.mod")
		testenv.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(mod), oldest, version)), 0o644))
		cmd := exec.CommandContext(t.Context(), "go", "vet", "-stdversion", "-modfile", file, "./...")
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := vet(oldest); err != nil {
		t.Errorf("objectid needs more than Go %s: %v\n%s", oldest, err, out)
	}
	out, err := vet(tooOld)
	inCode := func(line string) bool {
		return strings.Contains(line, "requires go1.24") && !strings.Contains(line, "_test.go:")
	}
	if err == nil || !slices.ContainsFunc(strings.Split(out, "\n"), inCode) {
		t.Errorf("the code of objectid does not need Go %s: set an older go line: %v\n%s", oldest, err, out)
	}
}
