//go:build unix

package redislock_test

import (
	"os"
	"testing"

	"github.com/oidkit/oid/internal/lockfaults"
	"github.com/oidkit/oid/internal/testenv"
)

func TestMain(m *testing.M) {
	childMain()
	lockfaults.Main(lockfaults.Own())
	os.Exit(testenv.Main(m))
}

func TestFaults(t *testing.T) {
	testenv.Long(t, "takes seconds")
	t.Parallel()
	for _, f := range lockfaults.Faults() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r := f.Run(t, lockfaults.Own())
			t.Logf("%+v", r)
			f.Check(t, r)
		})
	}
}
