package redislock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

func Example() {
	ctx := context.Background()
	locker, err := redislock.Open(ctx, "redis://localhost:6379", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()

	err = lock.Do(ctx, locker, "nightly-report", func(ctx context.Context, lease *lock.Lease) error {
		// ctx ends when the lease does.
		return writeReport(ctx, lease.Fence())
	}, nil)
	fmt.Println(err)
}

func Example_wait() {
	ctx := context.Background()
	locker, err := redislock.Open(ctx, "redis://localhost:6379", &redislock.Options{TTL: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()

	waiting, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	lease, err := locker.Acquire(waiting, "nightly-report", nil)
	if err != nil {
		log.Fatal(err) // the error says who holds the lock
	}
	defer lease.Release()
	if err := writeReport(lease.Context(), lease.Fence()); err != nil {
		log.Print(err)
	}
}

// A guarded key rejects the write of a stale holder.
func ExampleGuard() {
	ctx := context.Background()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"localhost:6379"}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	report := redislock.Guard{Client: client, Key: "report"}
	fmt.Println(report.Set(ctx, 1795166651598985, "by the current holder"))
	fmt.Println(report.Set(ctx, 1795166651000000, "by a stale holder"))
	// It prints:
	// <nil>
	// lock: stale fence: 1795166651000000, the resource has seen 1795166651598985
}

func writeReport(context.Context, uint64) error { return nil }
