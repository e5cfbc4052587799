package redislock_test

import (
	"os"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/locktest"
)

// TestHistoriesAreLinearizable checks the histories of clients that take one lock
// at the same time. Set OID_SOAK to a duration to go on for so long.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	end := time.Now()
	if text := os.Getenv("OID_SOAK"); text != "" {
		soak, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("OID_SOAK: %v", err)
		}
		end = end.Add(soak)
	}
	server := testenv.Redis(t)
	var lockers []lock.Locker
	for range 4 {
		lockers = append(lockers, open(t, server.URL(), 0))
	}
	locktest.Histories(t, lockers, 200, end, 4*time.Millisecond)
}
