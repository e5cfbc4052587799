package agent

import (
	"os"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/otelresource"
)

// However many processes a user starts, and whatever they do to be slow to ask, the agent has
// time for those of others.
func TestAskedInTurn(t *testing.T) {
	t.Parallel()
	a := &agent{}
	ask := func(user uint32) bool {
		said, err := a.ask(&process{user: user, reader: &otelresource.Reader{PID: os.Getpid()}})
		check(t, err)
		return said != nil
	}
	var took time.Duration
	left := 0
	begun := time.Now()
	for time.Since(begun) < 1500*time.Millisecond {
		if before := time.Now(); ask(1) {
			took += time.Since(before)
		} else {
			left++
			time.Sleep(time.Millisecond)
		}
	}
	if all := time.Since(begun); left == 0 || took < all/4 || took > time.Second/2+all/4+time.Second/4 { // the last one may have been slow
		t.Errorf("asking took %v of %v, and %d were left out", took, all, left)
	}
	if !ask(2) {
		t.Error("a process of another user is left out")
	}
}
