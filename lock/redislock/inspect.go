package redislock

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// inspect asks Redis whether locks can be kept there.
func (l *Locker) inspect(ctx context.Context, warn func(error)) error {
	cluster := l.client.Mode() == rueidis.ClientModeCluster
	for addr, node := range l.client.Nodes() {
		text, err := l.info(ctx, node)
		if err != nil {
			return fmt.Errorf("redislock: %s: read what Redis says of itself: %w", addr, err)
		}
		info := parseInfo(text)
		if info["role"] == "slave" {
			if cluster {
				continue
			}
			return fmt.Errorf("redislock: %s is a read-only replica: name the primary, at %s:%s, or a Sentinel", addr, info["master_host"], info["master_port"])
		}
		if info["maxmemory"] != "0" && info["maxmemory_policy"] != "noeviction" && info["maxmemory_policy"] != "" {
			warn(fmt.Errorf("redislock: %s drops locks when its memory is full: set maxmemory-policy to noeviction, it is %s", addr, info["maxmemory_policy"]))
		}
	}
	return nil
}

// info returns what a node says of itself. Like all requests it has a deadline:
// one without would make the client serve the connection by goroutines from then
// on, which takes longer.
func (l *Locker) info(ctx context.Context, node rueidis.Client) (string, error) {
	try := &deadline{Context: ctx, at: time.Now().Add(maxTry)}
	defer try.cancel()
	return node.Do(try, node.B().Info().Build()).ToString()
}

// parseInfo returns the fields of the reply to INFO.
func parseInfo(text string) map[string]string {
	fields := make(map[string]string)
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok {
			fields[key] = value
		}
	}
	return fields
}
