package locktest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/oidkit/oid/lock"
)

// stumbling is a Locker whose Status fails for a while.
type stumbling struct {
	lock.Locker
	failures int
}

var errStumbled = errors.New("connection reset")

func (s *stumbling) Status(ctx context.Context, name string) (lock.Status, error) {
	if s.failures--; s.failures >= 0 {
		return lock.Status{}, errStumbled
	}
	return s.Locker.Status(ctx, name)
}

// A slot that was taken is kept while the engine does not say whether the lock is held
// without slots, as long as ctx allows.
func TestSlotsWhileStatusFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &stumbling{newMemory("").open(), 3}
		s := lock.Slots(l, 2)
		release(t, acquire(t, s, "job"))
		l.failures = 1 << 30
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		if _, err := s.Acquire(ctx, "job"); !errors.Is(err, errStumbled) {
			t.Errorf("Acquire: %v, want the error of Status", err)
		}
		l.failures = 0
		if held, err := lock.HeldSlots(t.Context(), l, "job"); err != nil || len(held) > 0 {
			t.Errorf("HeldSlots: %+v, %v; want none", held, err)
		}
	})
}
