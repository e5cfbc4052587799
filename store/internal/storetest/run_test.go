package storetest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

// TestSkipped is a suite without a server, for [TestRunFailsIfNothingRuns].
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

// TestRunFailsIfNothingRuns: a suite whose selected tests are all skipped, or are not there,
// is not green.
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
