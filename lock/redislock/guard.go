package redislock

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/lock"
)

//go:embed scripts/guard.lua
var guardText string

var guardScript = newScript(guardText)

// Guard keeps late writers out of a key in Redis: a hash with the fields fence,
// the highest fence seen, and value. Read the value with HGET key value.
// Everything that writes the key has to go through [Guard.Set].
type Guard struct {
	// Client is where the key is; it need not be the Redis of the locks.
	Client Client
	// Key is the key.
	Key string
}

// Set stores value and fence, unless the key has seen a higher fence: then it
// leaves the key alone and returns a [lock.StaleError].
func (g Guard) Set(ctx context.Context, fence uint64, value string) error {
	text := strconv.FormatUint(fence, 10)
	result := g.Client.Do(ctx, g.Client.B().Evalsha().Sha1(guardScript.sha1).Numkeys(1).Key(g.Key).Arg(text, value).Build())
	if e, ok := rueidis.IsRedisErr(result.Error()); ok && e.IsNoScript() {
		result = g.Client.Do(ctx, g.Client.B().Eval().Script(guardScript.text).Numkeys(1).Key(g.Key).Arg(text, value).Build())
	}
	seen, err := result.ToString()
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
