package redislock

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/oidkit/oid/lock"
)

// Guard keeps late writers out of a key in Redis: a hash with the fields fence,
// the highest fence seen, and value. Read the value with HGET key value.
// All writes to the key must go through [Guard.Set].
type Guard struct {
	// Client is where the key is; it need not be the Redis of the locks.
	Client Client
	// Driver is used instead of Client if it is not nil.
	Driver Driver
	// Key is the key.
	Key string
}

// Set stores value and fence, unless the key has seen a higher fence: then it
// leaves the key alone and returns a [lock.StaleError].
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
		return fmt.Errorf("redislock: compare fence in %q: %w", g.Key, err)
	}
	if seen == "" {
		return nil
	}
	stale := &lock.StaleError{Fence: fence}
	if stale.Seen, err = strconv.ParseUint(seen, 10, 64); err != nil {
		return fmt.Errorf("redislock: read fence in %q: %w", g.Key, err)
	}
	return stale
}
