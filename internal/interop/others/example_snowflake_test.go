package others

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
)

// clockError is by how much the clocks of two processes may differ.
const clockError = 10 * time.Millisecond

// The number of a slot is the worker number of a Snowflake generator: no other process has
// it while the lease holds.
func Example_snowflake() {
	folder, err := os.MkdirTemp("", "locks")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	locker, err := filelock.New(folder, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	serve := func(_ context.Context, node *snowflake.Node) error {
		fmt.Println("an id has", len(node.Generate().String()), "digits")
		return nil
	}
	ctx := context.Background()

	err = lock.Do(ctx, lock.Slots(locker, lock.MaxSlots), "snowflake", func(ctx context.Context, lease *lock.Lease) error {
		time.Sleep(clockError) // the process that had the number may have had a clock that was ahead
		node, err := snowflake.NewNode(int64(lease.Slot()))
		if err != nil {
			return err
		}
		return serve(ctx, node) // until ctx ends: another process may have the number then
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	// Output: an id has 19 digits
}

// Ten processes want four worker numbers, one after the other. No id is created twice, and
// each shows the number of its slot.
func TestSnowflakeWorkers(t *testing.T) {
	const workers, numbers, turns, ids = 10, 4, 3, 500
	folder := t.TempDir()
	var mu sync.Mutex
	seen := make(map[snowflake.ID]bool)
	var all sync.WaitGroup
	for range workers {
		locker, err := filelock.New(folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer locker.Close()
			for range turns {
				err := lock.Do(t.Context(), lock.Slots(locker, numbers), "snowflake", func(_ context.Context, lease *lock.Lease) error {
					time.Sleep(clockError)
					node, err := snowflake.NewNode(int64(lease.Slot()))
					if err != nil {
						return err
					}
					for range ids {
						id := node.Generate()
						mu.Lock()
						if seen[id] || id.Node() != int64(lease.Slot()) {
							t.Errorf("id %v of worker %d; slot %d; seen %v", id, id.Node(), lease.Slot(), seen[id])
						}
						seen[id] = true
						mu.Unlock()
					}
					return nil
				}, nil)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if len(seen) != workers*turns*ids {
		t.Errorf("%d ids, want %d", len(seen), workers*turns*ids)
	}
}
