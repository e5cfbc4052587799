package storetest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

// TestSkipped runs the suite as if there were no server, for [TestRunFailsIfNothingRuns].
func TestSkipped(t *testing.T) {
	if os.Getenv("OID_STORETEST_SKIP") == "" {
		t.Skip("only for TestRunFailsIfNothingRuns")
	}
	Run(t, func(t *testing.T) store.Store {
		if !strings.HasSuffix(t.Name(), "/GetMany") {
			t.Skip("there is no server")
		}
		return memstore.New()
	}, nil)
}

// TestRunFailsIfNothingRuns: the suite fails if all tests that -run selects are skipped, or if
// -run selects none.
func TestRunFailsIfNothingRuns(t *testing.T) {
	for selected, want := range map[string]string{
		"^TestSkipped$/^Find":            "-v says why",
		"^TestSkipped$/NoSuchTest":       "-v says why",
		"^TestSkipped$/^(Get|GetMany)$":  "",
		"^TestSkipped$|^TestNoSuchTest$": "",
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", selected)
		cmd.Env = append(os.Environ(), "OID_STORETEST_SKIP=1")
		out, err := cmd.CombinedOutput()
		if (err == nil) != (want == "") || !strings.Contains(string(out), want) {
			t.Errorf("-run %s: %v, want %q in\n%s", selected, err, want, out)
		}
	}
}
