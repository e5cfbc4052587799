package storelock_test

import (
	"os"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/locktest"
)

// TestHistoriesAreLinearizable checks the histories of clients that take one lock at
// the same time. Set OID_SOAK to a duration to go on for so long.
func TestHistoriesAreLinearizable(t *testing.T) {
	testenv.Long(t, "takes seconds")
	soak, _ := time.ParseDuration(os.Getenv("OID_SOAK"))
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := engine(t)(t)
			lockers := []lock.Locker{newLocker(t, open(), nil), newLocker(t, open(), nil)}
			locktest.Histories(t, lockers, 3, time.Now().Add(soak), 50*time.Millisecond)
			for _, l := range lockers {
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
