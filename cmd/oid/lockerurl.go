package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
	"github.com/oidkit/oid/lock/redislock"
)

// lockerFlags say where locks are held.
type lockerFlags struct {
	redis string
	ttl   time.Duration
}

func (f *lockerFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.redis, "redis", "", "`URL` of the Redis that holds the locks (default $OID_REDIS, or files in your data folder)")
	cmd.Flags().DurationVar(&f.ttl, "ttl", lock.DefaultTTL, "how long the lock outlives a holder that has crashed, in Redis")
}

// url returns the URL of Redis, or "" for files.
func (f *lockerFlags) url() string {
	if f.redis != "" {
		return f.redis
	}
	return os.Getenv("OID_REDIS")
}

// grace checks --ttl and --grace and returns the time between SIGTERM and
// SIGKILL.
func (f *lockerFlags) grace(cmd *cobra.Command, grace time.Duration) (time.Duration, error) {
	given := cmd.Flags().Changed("grace")
	if f.url() == "" && (given || cmd.Flags().Changed("ttl")) {
		return 0, usagef("--ttl and --grace go with --redis: a lock in a file ends with its holder")
	}
	if err := lock.CheckTTL(f.ttl); err != nil {
		return 0, usageError{fmt.Errorf("--ttl: %w", err)}
	}
	switch {
	case !given:
		return f.ttl / 6, nil
	case grace < 0 || grace > f.ttl/3:
		// A lease that is renewed in time has more than half of its TTL left.
		return 0, usagef("--grace %v: want 0 to a third of --ttl, %v", grace, f.ttl/3)
	}
	return grace, nil
}

// open opens what holds the locks.
func (f *lockerFlags) open(ctx context.Context, std streams) (lock.Locker, error) {
	url := f.url()
	if url == "" {
		folder, err := dataFolder(runtime.GOOS)
		if err != nil {
			return nil, fmt.Errorf("find your data folder: %w; name a Redis with --redis", err)
		}
		return filelock.New(filepath.Join(folder, "oid", "locks"), nil)
	}
	return redislock.Open(ctx, url, &redislock.Options{
		TTL:  f.ttl,
		Warn: func(err error) { fmt.Fprintf(std.err, "oid: warning: %v\n", err) },
	})
}
