package redislock

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/oidkit/oid/lock"
)

// Guard rejects writes of stale holders to one key in Redis. The key is a hash with two
// fields: value, which you read with HGET, and fence, the highest fence seen. Write to the
// key only with [Guard.Set].
type Guard struct {
	// Client connects to the Redis that has the key. The locks may be in another Redis.
	Client Client
	// Driver replaces Client, for clients other than rueidis. If Driver is nil, Client is used.
	Driver Driver
	// Key is the name of the key.
	Key string
}

// Set stores value and fence. If the key has seen a higher fence, Set changes nothing and
// returns a [lock.StaleError].
func (g Guard) Set(ctx context.Context, fence uint64, value string) error {
	driver := cmp.Or[Driver](g.Driver, &rueidisDriver{client: g.Client})
	ctx, cancel := context.WithTimeout(ctx, maxTry)
	defer cancel()
	keys, args := []string{g.Key}, []string{strconv.FormatUint(fence, 10), value}
	seen, err := driver.EvalSHA(ctx, guardScript().sha1, keys, args)
	if isUnknownScript(err) {
		seen, err = driver.Eval(ctx, guardScript().text, keys, args)
	}
	if err != nil {
		return fmt.Errorf("redislock: compare the fence in key %q: %w", g.Key, err)
	}
	if seen == "" {
		return nil
	}
	stale := &lock.StaleError{Fence: fence}
	if stale.Seen, err = strconv.ParseUint(seen, 10, 64); err != nil {
		return fmt.Errorf("redislock: read the fence in key %q: %w", g.Key, err)
	}
	return stale
}
