package storelock_test

import (
	"testing"

	"github.com/oidkit/oid/lock/internal/locktest"
)

func TestSlotsInOrder(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocker(t, engine(t)(t)(), nil)
			locktest.SlotsInOrder(t, l)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
