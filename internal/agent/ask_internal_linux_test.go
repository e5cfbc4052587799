package agent

import (
	"os"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/otelresource"
)

// However many processes a user starts, and whatever they do to be slow to ask, the agent has
// time for those of others: asking costs four times as long as it takes, and a user may owe two
// seconds.
func TestAskedInTurn(t *testing.T) {
	t.Parallel()
	a := &agent{}
	ask := func(user uint32) bool {
		said, err := a.ask(&process{user: user, reader: &otelresource.Reader{PID: os.Getpid()}})
		check(t, err)
		return said != nil
	}
	const hour = time.Hour
	for user, c := range map[uint32]struct {
		owes  time.Duration
		asked bool
	}{1: {0, true}, 2: {-hour, true}, 3: {time.Second, true}, 4: {hour, false}} {
		begun := time.Now()
		a.asked.Store(user, begun.Add(c.owes))
		asked := ask(user)
		took := time.Since(begun)
		until, _ := a.asked.Load(user)
		switch paid := until.(time.Time).Sub(begun.Add(max(0, c.owes))); {
		case asked != c.asked:
			t.Errorf("a process of a user who owes %v: asked %v", c.owes, asked)
		case asked && (paid <= 0 || paid > 5*took), !asked && paid != 0:
			t.Errorf("a process of a user who owes %v: %v for %v", c.owes, paid, took)
		}
	}
	if !ask(5) {
		t.Error("a user who has never been asked")
	}
}
