package filelock_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
)

// A record full of the longest keys and commands is read again.
func TestLargestRecord(t *testing.T) {
	l, err := filelock.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var last uint64
	for _, want := range []bool{true, false} {
		for i := range 16 {
			key := lock.KeySchedule(strings.Repeat("<", lock.MaxName-2) + fmt.Sprintf("%02d", i))
			r, err := lock.Once(t.Context(), l, strings.Repeat("<", lock.MaxName), key, func(context.Context, *lock.Lease, lock.Run) error { return nil },
				&lock.OnceOptions{Acquire: lock.AcquireOptions{Command: strings.Repeat("<", 1024)}})
			if err != nil || r.Here != want || r.Here && r.Fence <= last {
				t.Fatalf("key %d: ran %v with fence %d after %d, %v", i, r.Here, r.Fence, last, err)
			}
			last = r.Fence
		}
	}
}
