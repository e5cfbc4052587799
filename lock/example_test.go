package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
)

// openLocks returns locks in files of a new folder, and a function that closes them and
// removes the folder.
func openLocks() (l lock.Locker, done func()) {
	dir, err := os.MkdirTemp("", "locks")
	if err != nil {
		log.Fatal(err)
	}
	l, err = filelock.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	return l, func() {
		l.Close()
		os.RemoveAll(dir)
	}
}

// TryAcquire says who has a lock instead of waiting for it.
func Example() {
	l, done := openLocks()
	defer done()
	ctx := context.Background()

	lease, err := l.Acquire(ctx, "nightly-report", nil)
	if err != nil {
		log.Fatal(err)
	}
	held := (*lock.HeldError)(nil)
	if _, err := l.TryAcquire(ctx, "nightly-report", nil); errors.As(err, &held) {
		fmt.Println("held by this process:", held.Status.Owner == lease.Owner())
	}
	fmt.Println("released:", lease.Release())
	fmt.Println("its lease says:", lease.Check())
	// Output:
	// held by this process: true
	// released: <nil>
	// its lease says: lock: released
}

// Two hosts call Once for the same tick. One runs the function, and the other learns the
// outcome.
func ExampleOnce() {
	l, done := openLocks()
	defer done()

	for _, host := range []string{"first", "second"} {
		run, err := lock.Once(context.Background(), l, "nightly-report", lock.KeySchedule("2026-11-24"),
			func(ctx context.Context, lease *lock.Lease, run lock.Run) error {
				fmt.Println(host, "host runs", run.Tick)
				return nil
			}, nil)
		fmt.Println(host, "host:", run.Outcome, run.Here, err)
	}
	// Output:
	// first host runs 2026-11-24
	// first host: done true <nil>
	// second host: done false <nil>
}

// At most two workers run at the same time. Each has a number that no other worker has.
func ExampleSlots() {
	l, done := openLocks()
	defer done()
	ctx := context.Background()

	workers := lock.Slots(l, 2)
	numbers := map[int]bool{}
	for range 2 {
		lease, err := workers.Acquire(ctx, "resize", nil)
		if err != nil {
			log.Fatal(err)
		}
		defer lease.Release()
		numbers[lease.Slot()] = true
	}
	fmt.Println("slots:", numbers)
	held := (*lock.HeldError)(nil)
	if _, err := workers.TryAcquire(ctx, "resize", nil); errors.As(err, &held) {
		fmt.Println("none of", held.Slots, "is free")
	}
	// Output:
	// slots: map[0:true 1:true]
	// none of 2 is free
}

// A leader whose term fails releases the lock and, after a pause, takes it again. It leads
// until its function returns nil or its context ends.
func ExampleLead() {
	l, done := openLocks()
	defer done()

	terms := 0
	err := lock.Lead(context.Background(), l, "scheduler", func(ctx context.Context, lease *lock.Lease) error {
		terms++
		if terms == 1 {
			return errors.New("the database is away")
		}
		return nil // a real leader works here until ctx ends
	}, &lock.LeadOptions{
		Pause: 10 * time.Millisecond,
		Events: func(e lock.Event) {
			fmt.Println(e.Kind, e.Err)
		},
	})
	fmt.Println(terms, "terms:", err)
	// Output:
	// acquired <nil>
	// paused the database is away
	// acquired <nil>
	// 2 terms: <nil>
}
