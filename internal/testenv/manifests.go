package testenv

import (
	"os/exec"
	"strings"
	"testing"
)

// CheckManifest holds a YAML document to the published types of Kubernetes, or to the
// published schema of Compose, and returns what is wrong with it, or "". what is
// "kubernetes" or "compose".
func CheckManifest(t testing.TB, what, text string) string {
	t.Helper()
	Long(t, "builds a checker of manifests")
	program, err := buildNested("manifests")
	if err != nil {
		Missing(t, "the checker of manifests cannot be built: "+err.Error()+"; it needs the Go command and its module proxy")
	}
	check := exec.CommandContext(t.Context(), program, what)
	check.Stdin = strings.NewReader(text)
	out, err := check.CombinedOutput()
	if err != nil {
		return err.Error() + ": " + string(out)
	}
	return ""
}
