package redislock_test

import (
	"os"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/lockfaults"
)

func TestMain(m *testing.M) {
	childMain()
	lockfaults.Main(lockfaults.Own())
	os.Exit(m.Run())
}

func TestFaults(t *testing.T) {
	for _, f := range lockfaults.Faults() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r := f.Run(t, lockfaults.Own())
			t.Logf("%+v", r)
			for _, complaint := range [][]string{r.FencesBack, r.Forever, r.Left, r.Leaks, r.Crashes} {
				for _, text := range complaint {
					t.Error(text)
				}
			}
			if f.CutOff && r.TwoBelievers > 0 {
				t.Errorf("two believed to have the lock for %v", r.TwoBelievers)
			}
			// The lock must be free again after the TTL; that of a waiter which
			// died before it could be passed over comes on top.
			if limit := 3*lockfaults.TTL + time.Second; r.Idle > limit {
				t.Errorf("nobody had the lock for %v, want at most %v", r.Idle, limit)
			}
			if limit := 2 * time.Second; r.Late > limit {
				t.Errorf("an Acquire returned %v after the end of its ctx", r.Late)
			}
			if !r.Fenced || r.Grants < 1 {
				t.Errorf("%d grants, fenced: %v", r.Grants, r.Fenced)
			}
		})
	}
}
