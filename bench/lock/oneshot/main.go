// Command oneshot runs a command under a lock of bsm/redislock, as a user of that library would
// write it in one page: the peer of "oid lock x -- COMMAND".
//
//	oneshot ADDRESS COMMAND [ARGUMENT ...]
package main

import (
	"context"
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: os.Args[1]})
	lock, err := redislock.New(client).Obtain(ctx, "x", 30*time.Second, &redislock.Options{RetryStrategy: redislock.LinearBackoff(10 * time.Millisecond)})
	if err != nil {
		log.Fatal(err)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	failed := cmd.Run()
	if err := lock.Release(ctx); err != nil || failed != nil {
		log.Fatal(failed, err)
	}
}
