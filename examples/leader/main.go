// Command leader runs on several hosts and works on one of them at a time.
//
//	go run ./examples/leader -locks redis://127.0.0.1:6379
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

func main() {
	url := flag.String("locks", "redis://127.0.0.1:6379", "`URL` of the Redis that holds the lock")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	l, err := redislock.Open(ctx, *url, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	events := func(e lock.Event) { log.Printf("%s, fence %d: %v", e.Kind, e.Fence, e.Err) }
	log.Print(lock.Lead(ctx, l, "leader", work, &lock.LeadOptions{Events: events}))
}

// work does the work of the leader. It returns when ctx ends: then another may lead.
func work(ctx context.Context, lease *lock.Lease) error {
	for ; ctx.Err() == nil; time.Sleep(time.Second) {
		fmt.Println("working with fence", lease.Fence())
	}
	return context.Cause(ctx)
}
