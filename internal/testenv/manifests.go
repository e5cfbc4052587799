package testenv

import (
	"os/exec"
	"strings"
	"testing"
)

// CheckManifest holds a YAML document to the published types of Kubernetes, or to the
// published schema of Compose, and returns what is wrong with it, or "". what is
// "kubernetes" or "compose", or "baseline" or "restricted" for a manifest of Kubernetes whose pods
// keep to that level of the Pod Security Standards.
func CheckManifest(t testing.TB, what, text string) string {
	t.Helper()
	check := exec.CommandContext(t.Context(), built(t, "manifests"), what)
	check.Stdin = strings.NewReader(text)
	out, err := check.CombinedOutput()
	if err != nil {
		return err.Error() + ": " + string(out)
	}
	return ""
}
