package engine_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/oidkit/oid/store/internal/engine"
)

// TestUnreachable: the text contains the root causes of the error, but not the texts that wrap
// them.
func TestUnreachable(t *testing.T) {
	got := engine.Unreachable("X", "h:1", fmt.Errorf("driver: %w", syscall.ECONNREFUSED))
	if got.Error() != "X at h:1 does not answer (connection refused); check that it is running and that the URL names its host and port" {
		t.Error(got)
	}
}
