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

func TestEpisodes(t *testing.T) {
	testenv.Long(t, "takes seconds")
	t.Parallel()
	for _, e := range lockfaults.Episodes() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			o := e.Run(t, lockfaults.Own())
			t.Logf("%+v", o)
			e.Check(t, o)
		})
	}
}

// A failover behind one name, while holders are stopped at random.
func TestAttackedEpisode(t *testing.T) {
	testenv.Long(t, "takes seconds")
	t.Parallel()
	e := lockfaults.Episodes()[0]
	for range testenv.Rounds(1, 200) {
		o := e.Attack(t, lockfaults.Own())
		t.Logf("%+v", o)
		e.CheckAttack(t, o)
	}
}
